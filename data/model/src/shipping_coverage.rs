use serde::{Deserialize, Serialize};

use crate::{ShippingFactKind, ShippingPolicy};

/// The brands of a market that are known in what a shopper asks of shipping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ShippingCoverage {
    /// Brands that state the order value from which shipping is free.
    pub threshold: u64,
    /// Brands that state whether they take cash on delivery.
    pub cod: u64,
    /// Brands that state, by a text or by rates, the time that delivery takes.
    pub days: u64,
    /// Brands that answered for pincodes.
    pub matrix: u64,
}

/// One brand's shipping, as far as it is known.
#[derive(Debug, Clone, Copy)]
pub struct KnownShipping<'a> {
    /// The terms that its text states.
    pub policy: Option<&'a ShippingPolicy>,
    /// It answered for a pincode.
    pub has_matrix: bool,
    /// One of these answers states days.
    pub has_days: bool,
}

impl ShippingCoverage {
    /// The counts, by name.
    #[must_use]
    pub const fn named(&self) -> [(&'static str, u64); 4] {
        [
            ("threshold", self.threshold),
            ("cod", self.cod),
            ("days", self.days),
            ("matrix", self.matrix),
        ]
    }

    /// Counts a brand in.
    pub fn count(&mut self, known: KnownShipping<'_>) {
        let KnownShipping {
            policy,
            has_matrix,
            has_days,
        } = known;
        let terms = policy.and_then(|policy| policy.terms.as_deref());
        let of = |kind| terms.is_some_and(|terms| terms.of(kind).next().is_some());
        let has_threshold = policy.is_some_and(|policy| policy.free_shipping_threshold_minor.is_some());
        let has_cod = policy.is_some_and(|policy| policy.cod_available.is_some()) || of(ShippingFactKind::Cod);
        let tiers = policy.map_or(&[][..], |policy| &policy.tiers);
        let has_days = has_days || of(ShippingFactKind::Delivery) || tiers.iter().any(|tier| tier.days_max.is_some());
        self.threshold += u64::from(has_threshold);
        self.cod += u64::from(has_cod);
        self.days += u64::from(has_days);
        self.matrix += u64::from(has_matrix);
    }
}
