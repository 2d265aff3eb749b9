use std::time::Duration;

use data_model::{Classify, ErrorCode};
use futures::future::join_all;
use state::CartRow;
use tokio::time::Instant;

use super::CartRead;
use crate::cart_client::CartError;
use crate::cart_context::CallerContext;
use crate::cart_failure::CartFailure;
use crate::carts::hold::LockAttempt;
use crate::carts::reads::Recent;
use crate::carts::{Carts, Intent};
use crate::request_time::RequestTime;
use crate::rules::carts::answer::{CartReport, cart};
use crate::rules::carts::ids::CartId;
use crate::rules::carts::missing::missing;
use crate::rules::carts::own::CartComparison;
use crate::rules::carts::record::{CartRecord, Group, Target};
use crate::rules::store_cart::StoreCart;
use crate::schema::carts::{CartDocument, CartProblem};

impl Carts {
    /// Reads a cart from its stores. If a store does not respond, only that store's group is out of date. If all stores
    /// responded, identical reads reuse the response for a short time.
    pub(crate) async fn read(&self, caller: &str, id: &CartId) -> Result<CartRead, CartFailure> {
        let time = self.context.time();
        let fresh = |told| CartRead { told, is_shared: false };
        let (row, record) = self.look(id, caller).await?;
        if self.must_change(caller, &record).await?
            && let Some(mended) = self.read_and_mend(caller, id, time).await?
        {
            return Ok(fresh(mended));
        }
        let reuse = Duration::from_millis(self.context.config.reuse_ms);
        if reuse.is_zero() {
            return self.read_stores(caller, id, time, row, record).await.map(fresh);
        }
        let read = self.reads.of(id, &row.sealed, reuse);
        let mut recent = read.recent.lock().await;
        if let Some(told) = recent.as_ref().and_then(|recent| recent.told(reuse)) {
            return Ok(CartRead { told, is_shared: true });
        }
        let told = self.read_stores(caller, id, time, row, record).await?;
        *recent = Recent::of(&told);
        Ok(fresh(told))
    }

    async fn read_stores(
        &self,
        caller: &str,
        id: &CartId,
        time: RequestTime,
        row: CartRow,
        mut record: CartRecord,
    ) -> Result<CartDocument, CartFailure> {
        let now = self.context.clock.now();
        let reads = record
            .groups
            .iter()
            .map(|group| self.read_store(caller, group, time.deadline()));
        let carts = join_all(reads).await;
        if carts.iter().any(|cart| matches!(cart, Ok(None)))
            && let Some(mended) = self.read_and_mend(caller, id, time).await?
        {
            return Ok(mended);
        }
        let mut told = CartReport::default();
        let told_all: Vec<bool> = record.groups.iter().map(|group| record.is_told(group)).collect();
        for ((group, cart), is_told) in record.groups.iter_mut().zip(carts).zip(told_all) {
            match cart {
                Ok(Some(mut cart)) => {
                    let holding = CartComparison {
                        cart: &cart,
                        wanted: &group.wanted,
                        before: Some(group.known()),
                    };
                    let missing = missing(Some(group), &Target::default(), holding);
                    let problems = missing.into_iter().map(|one| one.problem(&group.brand));
                    told.problems.extend(problems);
                    // Stores return warnings only for changes. Earlier warnings still apply, so they stay.
                    cart.warnings = std::mem::take(&mut group.seen.warnings);
                    group.seen = cart;
                    group.seen_at = now;
                    if is_told {
                        told.verified.push(group.brand.store.clone());
                    }
                }
                Ok(None) => {
                    let detail =
                        "The store no longer has its cart. The cart is rebuilt once no other request is changing it.";
                    let problem = CartProblem::new(Some(&group.brand), None, ErrorCode::Overloaded, detail);
                    told.problems.push(problem);
                }
                Err(error) => {
                    let problem = CartProblem::new(Some(&group.brand), None, error.code(), error.detail());
                    told.problems.push(problem.because(error.reason()));
                }
            }
        }
        record.groups.retain(|group| !group.seen.lines.is_empty());
        let links = record.groups.iter_mut().filter(|group| group.seen_at == now);
        let links = links.map(|group| self.open_link(caller, group, time.deadline()));
        let closed = join_all(links).await;
        told.problems.extend(closed.into_iter().flatten());
        let as_of = record.groups.iter().map(|group| group.seen_at).min().unwrap_or(now);
        let cart = cart(id, row.created_at, row.expires_at, &record, told);
        Ok(CartDocument::new(cart, as_of))
    }

    /// True if a read must also change the cart: an operation is unfinished, a store's state is in doubt or lacks
    /// settings, or a customer has signed in since.
    async fn must_change(&self, caller: &str, record: &CartRecord) -> Result<bool, CartFailure> {
        let is_settled = |group: &Group| group.doubt.is_none() && record.is_told(group);
        if record.open.is_some() || !record.groups.iter().all(is_settled) {
            return Ok(true);
        }
        let brands = record.groups.iter().map(|group| &group.brand);
        let buyers = self.buyers(caller, record, brands).await?;
        let is_another = |group: &Group| {
            let now = buyers.get(&group.brand.store).and_then(|buyer| buyer.mark());
            now != group.buyer
        };
        Ok(record.groups.iter().any(is_another))
    }

    /// Reads a cart and completes pending work. Returns `None` if another request is changing the cart, because a read
    /// does not wait for it.
    async fn read_and_mend(
        &self,
        caller: &str,
        id: &CartId,
        time: RequestTime,
    ) -> Result<Option<CartDocument>, CartFailure> {
        let LockAttempt::Locked(held) = self.try_hold(id, caller).await? else {
            return Ok(None);
        };
        let asked = CallerContext {
            caller: caller.to_owned(),
            operation: String::new(),
            time,
        };
        let changed = self.change_held(&asked, *held, |record| {
            let target = Target {
                is_read: true,
                ..Target::default()
            };
            let groups = record.groups.iter();
            Ok(Intent {
                targets: groups.map(|group| group.aimed_at(target.clone())).collect(),
                ..Intent::default()
            })
        });
        Ok(Some(Box::pin(changed).await?.document(self.context.clock.now())))
    }

    pub(in crate::carts) async fn read_store(
        &self,
        caller: &str,
        group: &Group,
        deadline: Instant,
    ) -> Result<Option<StoreCart>, CartError> {
        let client = self.client(&group.brand, caller, deadline)?;
        let _place = self.context.place(deadline).await;
        Box::pin(client.read(&group.seen.id)).await
    }
}
