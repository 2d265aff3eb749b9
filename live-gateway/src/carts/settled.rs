//! The outcome of an operation at one store's cart, and the words that state it.

use std::collections::BTreeMap;

use data_model::{Classify, ErrorCode, StoredBrand, Timestamp};

use crate::cart_client::CartError;
use crate::rules::carts::answer::Note;
use crate::rules::carts::record::{ChosenDelivery, Declined, Doubt, Group, Target};
use crate::rules::store_cart::{Buyer, CartAddress, Refusal, StoreCart};

/// The time for which a call whose answer was lost may still be carried out: longer than the platform works on one.
const LATE_MS: i64 = 60_000;
/// The message of a change that is neither known to be done nor to be refused.
const UNKNOWN: &str = "The store may have done it and did not say so: the cart tells when it is read.";

/// A brand's part of the cart before the operation.
#[derive(Debug, Clone)]
pub(super) struct Before {
    pub(super) brand: StoredBrand,
    pub(super) group: Option<Group>,
    /// The address of the whole cart.
    pub(super) address: Option<CartAddress>,
    pub(super) buyer: Buyer,
    /// The target was worked on before: the store is asked first.
    pub(super) is_again: bool,
    pub(super) now: Timestamp,
}

/// The outcome of an operation at one store's cart.
#[derive(Debug, Default)]
pub(super) struct ReconcileOutcome {
    /// The store's cart, where the store answered it; `None` where nothing is known but what was known before.
    pub(super) cart: Option<StoreCart>,
    pub(super) problems: Vec<Trouble>,
    /// Quantities that the store took, by variant; 0 where the buyer's lines are gone.
    pub(super) done: BTreeMap<u64, u32>,
    /// Quantities of calls of which nobody knows if the store carries them out, by variant.
    pub(super) lost: BTreeMap<u64, u32>,
    /// The last call's outcome is unknown: what is known of the cart is older.
    pub(super) is_open: bool,
    /// No call from before can be under way any more.
    pub(super) is_certain: bool,
    /// The address that the store got, where it got one.
    pub(super) address: Option<CartAddress>,
    /// The address that the store said no to.
    pub(super) declined: Option<Declined>,
    pub(super) unsent: Target,
    /// The settings that are to hold, where calls that may be carried out yet set others.
    pub(super) set: Target,
    /// One of those calls is of this operation.
    pub(super) is_set_lost: bool,
    /// The delivery that was chosen.
    pub(super) chosen: Option<ChosenDelivery>,
    pub(super) notes: Vec<Note>,
    /// The store does not know the customer any more.
    pub(super) is_signed_out: bool,
    /// The store got the buyer.
    pub(super) is_buyer_told: bool,
}

/// A thing that a store did not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) code: ErrorCode,
    pub(super) detail: String,
    /// The variant that it is about.
    pub(super) variant: Option<u64>,
}

impl Before {
    /// The settings that are to hold: the target's, and those from before that are not known to hold for good.
    pub(super) fn settings(&self, target: &Target) -> Target {
        let mut settings = target.settings();
        if let Some(group) = &self.group {
            settings.join(&group.settings());
        }
        settings
    }

    /// A call that was lost before set something besides lines.
    pub(super) fn is_set_late(&self) -> bool {
        let doubt = self.group.as_ref().and_then(|group| group.doubt.as_ref());
        doubt.is_some_and(|doubt| doubt.set != Target::default())
    }

    /// True where no call that was lost before can be under way any more. A moment further ahead than any that is
    /// written comes of a clock that was wrong.
    pub(super) fn is_over(&self, doubt: &Doubt) -> bool {
        self.now >= doubt.until || doubt.until > self.now.plus_millis(LATE_MS)
    }
}

impl ReconcileOutcome {
    /// True where something was not done, all of it for reasons that pass.
    pub(super) fn is_passing(&self) -> bool {
        !self.problems.is_empty() && self.problems.iter().all(|trouble| trouble.code.is_passing())
    }

    /// Quantities that the store took, or may have taken, by variant.
    pub(super) fn maybe_done(&self) -> BTreeMap<u64, u32> {
        self.done
            .iter()
            .chain(&self.lost)
            .map(|(variant, pieces)| (*variant, *pieces))
            .collect()
    }

    /// The outcome without a call, for this error; without one, because too many stores are asked already.
    pub(super) fn unasked(before: &Before, target: &Target, error: Option<&CartError>) -> Self {
        let detail = "Too many stores are asked at the same time.";
        let busy = || Trouble::new(ErrorCode::Overloaded, detail, None);
        let unsent = before.settings(target);
        Self {
            problems: vec![error.map_or_else(busy, |error| Trouble::of(error, false))],
            set: unsent.clone(),
            unsent,
            ..Self::default()
        }
    }

    /// The doubt that remains from `now` on, with that of before.
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
            detail: detail.into(),
            variant,
        }
    }

    /// The problem of a call, or of several of which one may have been done.
    pub(super) fn of(error: &CartError, is_open: bool) -> Self {
        let detail = if is_open { UNKNOWN } else { error.detail() };
        Self::new(error.code(), detail, None)
    }

    pub(super) fn refused(refusal: &Refusal, variant: Option<u64>) -> Self {
        if let Some(id) = variant.filter(|_| refusal.is_of_no_variant()) {
            let detail = format!("The store does not sell the variant {id} any more.");
            return Self::new(ErrorCode::ProductNotFound, detail, variant);
        }
        let detail = format!("The store says: {}", refusal.message);
        Self::new(ErrorCode::StoreRejected, detail, variant)
    }
}
