//! Procedure of all cart changes: lock the cart, save the wanted state, bring the stores to that state, and save the
//! result.

use std::collections::{BTreeMap, HashMap};

use data_model::{Classify as _, StoreHost, StoredBrand, Timestamp};
use futures::future::join_all;
use state::CartRow;
use tokio::time::Instant;

use super::Carts;
use super::first_look::FirstReads;
use super::hold::LockedCart;
use super::settle::settle;
use super::settled::{Before, ReconcileOutcome};
use super::taken_in::take_in;
use crate::cart_client::CartError;
use crate::cart_context::CallerContext;
use crate::cart_failure::CartFailure;
use crate::leases::HeldLease;
use crate::rules::carts::answer::{CartReport, cart};
use crate::rules::carts::ids::CartId;
use crate::rules::carts::record::{Attributions, BrandTarget, CartRecord, OpenOperation, Target, Unmet};
use crate::rules::store_cart::{Buyer, CartAddress};
use crate::schema::carts::{CartDocument, CartProblem};

#[derive(Debug, Default)]
pub(crate) struct Intent {
    pub(crate) targets: Vec<BrandTarget>,
    pub(crate) address: Option<CartAddress>,
    /// New attribution tokens for the stores' carts.
    pub(crate) attribution: Option<Attributions>,
    /// Problems that were found before any store was queried.
    pub(crate) problems: Vec<CartProblem>,
    /// True if the change ends the cart, so that its caller no longer finds it.
    pub(crate) is_end: bool,
}

impl Intent {
    /// Returns the rest of a change that was carried out before, when some stores failed. The other stores are only
    /// read. An attribution token is sent to all stores again.
    fn left_of(mut self, unmet: &[Unmet], record: &CartRecord) -> Self {
        if self.attribution.is_none() {
            for BrandTarget { brand, target } in &mut self.targets {
                match unmet.iter().find(|one| one.store == brand.store) {
                    Some(left) => target.without_done(record.group(brand), &left.maybe_done),
                    None => *target = Target::default(),
                }
                target.is_read = true;
            }
        }
        self
    }
}

#[derive(Debug)]
pub(crate) struct ChangedCart {
    pub(super) id: CartId,
    pub(super) row: CartRow,
    pub(super) record: CartRecord,
    pub(super) told: CartReport,
}

impl ChangedCart {
    /// Returns the cart in the form for its caller.
    pub(crate) fn document(self, now: Timestamp) -> CartDocument {
        let as_of = self
            .record
            .groups
            .iter()
            .map(|group| group.seen_at)
            .min()
            .unwrap_or(now);
        let (created_at, expires_at) = (self.row.created_at, self.row.expires_at);
        CartDocument::new(cart(&self.id, created_at, expires_at, &self.record, self.told), as_of)
    }
}

impl ChangedCart {
    /// Returns the cart in its state before the caller ended it, without a query to a store.
    pub(crate) fn ended(mut self, now: Timestamp) -> CartDocument {
        self.record.groups = self.record.ended.take().unwrap_or_default();
        self.told = CartReport {
            problems: self.told.problems,
            ..CartReport::default()
        };
        self.document(now)
    }

    /// True if no store was queried.
    pub(crate) fn asked_nothing(&self) -> bool {
        self.told.verified.is_empty() && self.told.problems.is_empty()
    }

    /// Returns the saved record, the problems, and the stores that responded during this change.
    pub(crate) fn into_parts(self) -> (CartRecord, Vec<CartProblem>, Vec<StoreHost>) {
        (self.record, self.told.problems, self.told.verified)
    }
}

impl Carts {
    /// Changes a cart as `intend` specifies. An earlier unfinished operation is completed first. An operation that has
    /// already finished is not repeated.
    pub(crate) async fn change(
        &self,
        asked: &CallerContext,
        id: &CartId,
        intend: impl FnMut(&CartRecord) -> Result<Intent, CartFailure>,
    ) -> Result<ChangedCart, CartFailure> {
        let held = self.hold(id, &asked.caller, asked.time.before_work()).await?;
        Box::pin(self.change_held(asked, held, intend)).await
    }

    pub(super) async fn change_held(
        &self,
        asked: &CallerContext,
        mut held: LockedCart,
        mut intend: impl FnMut(&CartRecord) -> Result<Intent, CartFailure>,
    ) -> Result<ChangedCart, CartFailure> {
        let deadline = asked.time.deadline();
        let mut told = CartReport::default();
        if held.record.open.is_some() {
            let none = FirstReads::new();
            Box::pin(self.work(&mut held, &asked.caller, deadline, true, &none, &mut told)).await?;
            self.keep(&mut held, false).await?;
        }
        let is_again = held.record.is_done(&asked.operation);
        let unmet = held.record.unmet_of(&asked.operation);
        if is_again && (unmet.is_empty() || held.record.ended.is_some()) {
            self.let_go(&held).await?;
            return Ok(ChangedCart::of(held, told));
        }
        if held.record.ended.is_some() {
            self.let_go(&held).await?;
            return Err(CartFailure::NoCart);
        }
        let mut intent = intend(&held.record);
        let mut reads = FirstReads::new();
        let first = match &mut intent {
            Ok(first) => Some(std::mem::take(&mut first.targets)),
            // The line may have been added at one of the stores since.
            Err(CartFailure::NoLine) => {
                let groups = held.record.groups.iter();
                Some(groups.map(|group| group.aimed_at(Target::default())).collect())
            }
            Err(_) => None,
        };
        if let Some(first) = first {
            let record = &mut held.record;
            reads = self
                .read_first(&asked.caller, record, &first, deadline, &mut told)
                .await;
            intent = intend(record);
        }
        let intent = match intent {
            Ok(intent) if is_again => intent.left_of(&unmet, &held.record),
            Ok(intent) => intent,
            Err(failure) => {
                self.let_go(&held).await?;
                return Err(known_failure(failure, reads));
            }
        };
        told.problems.extend(intent.problems);
        held.record.ended = intent.is_end.then(|| held.record.groups.clone());
        if let Some(address) = intent.address {
            held.record.address = Some(address);
        }
        if let Some(tokens) = intent.attribution {
            held.record.attribution = Some(tokens);
        }
        held.record.open = Some(OpenOperation {
            id: asked.operation.clone(),
            targets: intent.targets,
        });
        self.keep(&mut held, false).await?;
        self.go_on(held, &asked.caller, deadline, &reads, told).await
    }

    /// Reads the stores' carts in doubt once more, so that a lost call that was carried out during the change does not
    /// alter what its caller is about to pay for.
    pub(crate) async fn look_again(
        &self,
        asked: &CallerContext,
        changed: ChangedCart,
    ) -> Result<ChangedCart, CartFailure> {
        let doubted = |record: &CartRecord| -> Vec<BrandTarget> {
            let doubted = record.groups.iter().filter(|group| group.doubt.is_some());
            let read = Target {
                is_read: true,
                ..Target::default()
            };
            doubted.map(|group| group.aimed_at(read.clone())).collect()
        };
        let targets = doubted(&changed.record);
        if targets.is_empty() {
            return Ok(changed);
        }
        let held = self.hold(&changed.id, &asked.caller, asked.time.before_work()).await?;
        let asked = CallerContext {
            operation: String::new(),
            ..asked.clone()
        };
        let mut again = Box::pin(self.change_held(&asked, held, |record| {
            Ok(Intent {
                targets: doubted(record),
                ..Intent::default()
            })
        }))
        .await?;
        let is_settled = |store: &StoreHost| targets.iter().all(|one| one.brand.store != *store);
        let told = changed.told;
        let verified = told.verified.into_iter().filter(is_settled);
        again.told.verified.extend(verified);
        let mut problems = told.problems;
        problems.append(&mut again.told.problems);
        again.told.problems = problems;
        Ok(again)
    }

    /// Completes the pending operation of the cart, saves the result and unlocks the cart.
    pub(super) async fn go_on(
        &self,
        mut held: LockedCart,
        caller: &str,
        deadline: Instant,
        reads: &FirstReads,
        mut told: CartReport,
    ) -> Result<ChangedCart, CartFailure> {
        Box::pin(self.work(&mut held, caller, deadline, false, reads, &mut told)).await?;
        self.keep(&mut held, true).await?;
        Ok(ChangedCart::of(held, told))
    }

    /// Carries out the pending operation at the stores and records their outcomes. Stores are queried concurrently,
    /// unless their targets depend on others.
    async fn work(
        &self,
        held: &mut LockedCart,
        caller: &str,
        deadline: Instant,
        is_again: bool,
        reads: &FirstReads,
        told: &mut CartReport,
    ) -> Result<(), CartFailure> {
        let Some(open) = held.record.open.clone() else {
            return Ok(());
        };
        let brands = open.targets.iter().map(|one| &one.brand);
        let buyers = self.buyers(caller, &held.record, brands).await?;
        for waits in [false, true] {
            let targets = open.targets.iter().filter(|one| one.target.waits == waits);
            if waits && !held.record.has_awaited(&open) {
                targets.for_each(|one| held.record.note(&one.brand.store, Some(BTreeMap::new())));
                break;
            }
            let asked_at = self.context.clock.now();
            let asked = targets.clone().map(|BrandTarget { brand, target }| {
                let read = reads.get(&brand.store);
                let before = Before {
                    brand: brand.clone(),
                    group: held.record.group(brand).cloned(),
                    address: held.record.address.clone(),
                    buyer: buyers.get(&brand.store).cloned().unwrap_or_default(),
                    is_again,
                    is_fresh: matches!(read, Some(Ok(_))),
                    now: read.and_then(|read| read.as_ref().ok()).copied().unwrap_or(asked_at),
                };
                let unread = read.and_then(|read| read.as_ref().err());
                self.ask_store(caller, before, target, unread, &held.lease, deadline)
            });
            let outcomes = join_all(asked).await;
            for (BrandTarget { brand, target }, (before, settled)) in targets.zip(outcomes) {
                if settled.is_signed_out {
                    self.context.state.forget_customer(caller, &brand.store).await?;
                }
                let left = settled.is_passing().then(|| settled.maybe_done());
                held.record.note(&brand.store, left);
                let now = self.context.clock.now();
                take_in(&mut held.record, told, target, &before, settled, now);
            }
        }
        held.record.close();
        Ok(())
    }

    async fn ask_store(
        &self,
        caller: &str,
        before: Before,
        target: &Target,
        unread: Option<&CartError>,
        lease: &HeldLease,
        deadline: Instant,
    ) -> (Before, ReconcileOutcome) {
        if unread.is_some() {
            let settled = ReconcileOutcome::unasked(&before, target, unread);
            return (before, settled);
        }
        let place = self.context.place(deadline).await;
        let settled = match (place, self.client(&before.brand, caller, deadline)) {
            (Some(_place), Ok(client)) => Box::pin(settle(&client, &before, target, lease, deadline)).await,
            (_, client) => ReconcileOutcome::unasked(&before, target, client.err().as_ref()),
        };
        (before, settled)
    }

    pub(super) async fn buyers<'a>(
        &self,
        caller: &str,
        record: &CartRecord,
        brands: impl Iterator<Item = &'a StoredBrand>,
    ) -> Result<HashMap<StoreHost, Buyer>, CartFailure> {
        let mut customers = self.accounts.customers(caller).await?;
        let buyer = |brand: &StoredBrand| {
            let customer = customers.remove(&brand.store).map(|signed_in| {
                self.accounts.renew_in_time(caller, brand, &signed_in);
                signed_in.customer
            });
            let email = || customer.as_ref().map(|customer| customer.email.clone());
            let buyer = Buyer {
                country: brand.crawl_country.clone(),
                email: record.email.clone().or_else(email),
                customer_token: customer.as_ref().map(|customer| customer.token.clone()),
            };
            (brand.store.clone(), buyer)
        };
        Ok(brands.map(buyer).collect())
    }
}

impl ChangedCart {
    fn of(held: LockedCart, told: CartReport) -> Self {
        Self {
            id: held.id,
            row: held.row,
            record: held.record,
            told,
        }
    }
}

/// Returns the failure of a store's cart instead of an unknown line, because the line may be in that cart.
fn known_failure(failure: CartFailure, reads: FirstReads) -> CartFailure {
    match (failure, reads.into_values().find_map(Result::err)) {
        (CartFailure::NoLine, Some(error)) => CartFailure::Store {
            code: error.code(),
            reason: error.reason(),
            detail: error.detail().to_owned(),
        },
        (failure, _) => failure,
    }
}
