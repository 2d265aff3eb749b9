//! Reads the carts that a change concerns before the change, and adopts what was changed at the stores themselves.

use std::collections::HashMap;

use data_model::{StoreHost, Timestamp};
use futures::future::join_all;
use tokio::time::Instant;

use super::Carts;
use crate::cart_client::CartError;
use crate::rules::carts::answer::{CartReport, Note};
use crate::rules::carts::missing::missing;
use crate::rules::carts::own::CartComparison;
use crate::rules::carts::record::{BrandTarget, CartRecord, Group, Target};
use crate::rules::store_cart::StoreCart;

/// Reads of stores' carts before a change: the time before the read, or the reason why there is none. A store whose cart
/// is in doubt or gone is absent.
pub(super) type FirstReads = HashMap<StoreHost, Result<Timestamp, CartError>>;

impl Carts {
    /// Reads the stores' carts that a change concerns. Carts in doubt are read together with the late effects of their
    /// lost calls.
    pub(super) async fn read_first(
        &self,
        caller: &str,
        record: &mut CartRecord,
        targets: &[BrandTarget],
        deadline: Instant,
        told: &mut CartReport,
    ) -> FirstReads {
        let at = self.context.clock.now();
        let concerns = |group: &Group| targets.iter().any(|one| one.brand.store == group.brand.store);
        let concerned = record.groups.iter_mut();
        let concerned = concerned.filter(|group| group.doubt.is_none() && concerns(group));
        let reads = concerned.map(|group| async move { (self.read_store(caller, group, deadline).await, group) });
        let mut first = FirstReads::new();
        for (read, group) in join_all(reads).await {
            let store = group.brand.store.clone();
            match read {
                Ok(Some(cart)) => {
                    adopt(group, cart, told);
                    group.seen_at = at;
                    first.insert(store, Ok(at));
                }
                Ok(None) => {}
                Err(error) => {
                    first.insert(store, Err(error));
                }
            }
        }
        first
    }
}

/// Takes over a store's cart as it was read while no call was in progress, and reports what was changed at the store.
fn adopt(group: &mut Group, mut cart: StoreCart, told: &mut CartReport) {
    let (then, now) = (
        group.holding(),
        CartComparison {
            cart: &cart,
            ..group.holding()
        },
    );
    let gone = missing(Some(&*group), &Target::default(), now).into_iter();
    told.problems.extend(gone.map(|one| one.problem(&group.brand)));
    let wanted = now.adopted(&then);
    let changed = wanted
        .iter()
        .filter(|(variant, pieces)| then.wanted(**variant) != **pieces);
    let mut notes: Vec<Note> = changed
        .map(|(variant, pieces)| Note::QuantityChanged {
            variant: *variant,
            was: then.pieces(*variant),
            now: *pieces,
        })
        .collect();
    let codes = |cart: &StoreCart| -> Vec<_> { cart.codes.iter().map(|one| one.code.to_lowercase()).collect() };
    notes.extend((codes(&cart) != codes(&group.seen)).then_some(Note::CodesChanged));
    notes.extend((cart.address != group.seen.address).then_some(Note::AddressChanged));
    let picked = picked_at_store(&cart, &group.seen);
    notes.extend(picked.is_some().then_some(Note::DeliveryChanged));
    if !notes.is_empty() {
        let store = group.brand.store.as_str().to_owned();
        told.notes.entry(store).or_default().extend(notes);
    }
    group.wanted = wanted;
    // Stores return warnings only for changes, so the earlier warnings still apply.
    cart.warnings = std::mem::take(&mut group.seen.warnings);
    group.seen = cart;
    if let Some(handle) = picked {
        group.chosen = Some(group.choice(&handle));
    }
}

/// Returns the delivery option that was selected at the store: another one of the same options.
fn picked_at_store(now: &StoreCart, then: &StoreCart) -> Option<String> {
    let mut pairs = now.deliveries.iter().zip(&then.deliveries);
    let (now, _) = pairs.find(|(now, then)| now.options == then.options && now.selected != then.selected)?;
    now.selected.clone()
}
