use serde::{Deserialize, Serialize};

use crate::{ShippingFactKind, ShippingPolicy};

/// Numbers of brands in a market with known shipping terms, by kind of term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ShippingCoverage {
    /// Number of brands that state the order value above which shipping is free.
    pub threshold: u64,
    /// Number of brands that state if they accept cash on delivery.
    pub cod: u64,
    /// Number of brands that state delivery times, in a text or in rates.
    pub days: u64,
    /// Number of brands with responses for pincodes.
    pub matrix: u64,
}

/// Known shipping information about one brand.
#[derive(Debug, Clone, Copy)]
pub struct KnownShipping<'a> {
    /// Terms that the brand's text states.
    pub policy: Option<&'a ShippingPolicy>,
    /// `true` if the brand's store responded for at least one pincode.
    pub has_matrix: bool,
    /// `true` if at least one response for a pincode states days.
    pub has_days: bool,
}

impl ShippingCoverage {
    /// Returns the counts with their names.
    #[must_use]
    pub const fn named(&self) -> [(&'static str, u64); 4] {
        [
            ("threshold", self.threshold),
            ("cod", self.cod),
            ("days", self.days),
            ("matrix", self.matrix),
        ]
    }

    /// Adds a brand to the counts.
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
