//! Outcome of an operation at one store's cart, and its messages.

use std::collections::BTreeMap;

use data_model::{Classify, ErrorCode, StoredBrand, Timestamp};

use crate::cart_client::CartError;
use crate::rules::carts::answer::Note;
use crate::rules::carts::record::{ChosenDelivery, Declined, Doubt, Group, Target};
use crate::rules::store_cart::{Buyer, CartAddress, Refusal, StoreCart};

/// Time in milliseconds for which a call whose response was lost may still be carried out. The platform processes a
/// call in less time.
const LATE_MS: i64 = 60_000;
/// Message for a change whose outcome is unknown.
const UNKNOWN: &str = "The store did not confirm the change, which may have happened. Read the cart to see its state.";

/// Brand's group in the cart before the operation.
#[derive(Debug, Clone)]
pub(super) struct Before {
    pub(super) brand: StoredBrand,
    pub(super) group: Option<Group>,
    pub(super) address: Option<CartAddress>,
    pub(super) buyer: Buyer,
    /// True if the target was worked on before. The store's cart is then read first.
    pub(super) is_again: bool,
    /// True if the group's cart was read for this operation.
    pub(super) is_fresh: bool,
    pub(super) now: Timestamp,
}

/// Outcome of an operation at one store's cart.
#[derive(Debug, Default)]
pub(super) struct ReconcileOutcome {
    /// Store's cart, if the store returned it; `None` if nothing new is known.
    pub(super) cart: Option<StoreCart>,
    pub(super) problems: Vec<Trouble>,
    /// Quantities by variant that the store accepted; 0 if the buyer's lines are gone.
    pub(super) done: BTreeMap<u64, u32>,
    /// Quantities by variant in calls whose outcome is unknown.
    pub(super) lost: BTreeMap<u64, u32>,
    /// True if the outcome of the last call is unknown, so that the known cart is older.
    pub(super) is_open: bool,
    /// True if no earlier call can still be running.
    pub(super) is_certain: bool,
    pub(super) address: Option<CartAddress>,
    pub(super) declined: Option<Declined>,
    pub(super) unsent: Target,
    /// Required settings, if late calls can still set different ones.
    pub(super) set: Target,
    /// True if one of the possibly late calls belongs to this operation.
    pub(super) is_set_lost: bool,
    pub(super) chosen: Option<ChosenDelivery>,
    pub(super) notes: Vec<Note>,
    /// True if the store no longer accepts the customer's token.
    pub(super) is_signed_out: bool,
    pub(super) is_buyer_told: bool,
}

/// Change that a store did not carry out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) code: ErrorCode,
    /// Reason why repeating the request will not help.
    pub(super) reason: Option<&'static str>,
    pub(super) detail: String,
    /// Variant that the store did not add or change as requested.
    pub(super) variant: Option<u64>,
}

impl Before {
    /// Returns the required settings: those of the target, and earlier ones that may still be overwritten.
    pub(super) fn settings(&self, target: &Target) -> Target {
        let mut settings = target.settings();
        if let Some(group) = &self.group {
            settings.join(&group.settings());
        }
        settings
    }

    /// True if an earlier lost call changed something other than lines.
    pub(super) fn is_set_late(&self) -> bool {
        let doubt = self.group.as_ref().and_then(|group| group.doubt.as_ref());
        doubt.is_some_and(|doubt| doubt.set != Target::default())
    }

    /// True if no lost call can still be running. A time too far in the future was written by a server with a wrong
    /// clock.
    pub(super) fn is_over(&self, doubt: &Doubt) -> bool {
        self.now >= doubt.until || doubt.until > self.now.plus_millis(LATE_MS)
    }
}

impl ReconcileOutcome {
    /// True if something was not done and all the reasons are temporary.
    pub(super) fn is_passing(&self) -> bool {
        !self.problems.is_empty() && self.problems.iter().all(|trouble| trouble.code.is_passing())
    }

    /// Returns the quantities by variant that the store accepted or may have accepted.
    pub(super) fn maybe_done(&self) -> BTreeMap<u64, u32> {
        self.done
            .iter()
            .chain(&self.lost)
            .map(|(variant, pieces)| (*variant, *pieces))
            .collect()
    }

    /// Returns the outcome without a call. `error` is the reason; `None` means that too many stores are being queried.
    pub(super) fn unasked(before: &Before, target: &Target, error: Option<&CartError>) -> Self {
        let detail = "Too many stores are being queried at the same time.";
        let busy = || Trouble::new(ErrorCode::Overloaded, detail, None);
        let unsent = before.settings(target);
        Self {
            problems: vec![error.map_or_else(busy, |error| Trouble::of(error, false))],
            set: unsent.clone(),
            unsent,
            ..Self::default()
        }
    }

    /// Returns the doubt that remains after `now`: calls with an unknown outcome that can still take effect. The
    /// earlier doubt is included.
    pub(super) fn doubt(&self, before: Option<Doubt>, now: Timestamp) -> Option<Doubt> {
        let before = before.filter(|_| !self.is_certain);
        let until = before.as_ref().map(|doubt| doubt.until);
        let mut asked = before.map(|doubt| doubt.asked).unwrap_or_default();
        for (variant, quantity) in &mut asked {
            *quantity = self.done.get(variant).copied().unwrap_or(*quantity);
        }
        asked.extend(&self.lost);
        let is_late = !self.lost.is_empty() || self.is_set_lost;
        let set = self.set.clone();
        let late = is_late.then(|| now.plus_millis(LATE_MS));
        late.or(until).map(|until| Doubt { until, asked, set })
    }
}

impl Trouble {
    pub(super) fn new(code: ErrorCode, detail: impl Into<String>, variant: Option<u64>) -> Self {
        Self {
            code,
            reason: None,
            detail: detail.into(),
            variant,
        }
    }

    /// Returns the problem of a call, or of several calls of which at least one may have been carried out.
    pub(super) fn of(error: &CartError, is_open: bool) -> Self {
        let detail = if is_open { UNKNOWN } else { error.detail() };
        Self {
            reason: error.reason(),
            ..Self::new(error.code(), detail, None)
        }
    }

    pub(super) fn refused(refusal: &Refusal, variant: Option<u64>) -> Self {
        if let Some(id) = variant.filter(|_| refusal.is_of_no_variant()) {
            let detail = format!("The store no longer sells the variant {id}.");
            return Self::new(ErrorCode::ProductNotFound, detail, variant);
        }
        let detail = format!("The store says: {}", refusal.message);
        Self::new(ErrorCode::StoreRejected, detail, variant)
    }
}
