use serde::{Deserialize, Serialize};

/// The way in which discount codes are found and tested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CouponsConfig {
    /// Longest time for an answer; what is not tested by then is told as untested. The server's own limit for a request
    /// must be above it.
    pub budget_ms: u64,
    /// Longest time for testing at one store: it goes on behind an answer that did not wait for its end, for the next one.
    pub testing_ms: u64,
    /// Codes that are entered together; the platform takes at most 250.
    pub codes_per_call: usize,
    /// Most calls to a store in one testing.
    pub calls_max: usize,
    /// Most stores at which codes are tested at the same time.
    pub stores_at_once_max: usize,
    /// For so long a code that applied is told without being tested again.
    pub applicable_for_s: u64,
    /// The same of a code that did not apply to the item.
    pub not_applicable_for_s: u64,
    /// The same of a code that the store does not have.
    pub unknown_code_for_s: u64,
    /// For so long a code that applied before is tested ahead of others.
    pub worked_for_s: u64,
    /// For so long a store that could not be asked is left alone.
    pub rest_s: u64,
    /// The address at which codes for delivery are tried out: the amount that they take off shows only where something is
    /// delivered to. Used for brands that sell to its country; `None`: nowhere.
    pub address: Option<CouponAddress>,
}

/// An address to which nothing is ever sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CouponAddress {
    /// Two upper-case letters.
    pub country: String,
    /// Postal code.
    pub zip: String,
    /// The platform's code of the province.
    #[serde(default)]
    pub province: Option<String>,
    /// City.
    #[serde(default)]
    pub city: Option<String>,
}

impl Default for CouponsConfig {
    fn default() -> Self {
        Self {
            budget_ms: 8_000,
            testing_ms: 30_000,
            codes_per_call: 20,
            calls_max: 40,
            stores_at_once_max: 64,
            applicable_for_s: 6 * 3_600,
            not_applicable_for_s: 2 * 3_600,
            unknown_code_for_s: 24 * 3_600,
            worked_for_s: 90 * 24 * 3_600,
            rest_s: 30,
            address: Some(CouponAddress {
                country: "IN".to_owned(),
                zip: "110001".to_owned(),
                province: Some("DL".to_owned()),
                city: Some("New Delhi".to_owned()),
            }),
        }
    }
}

impl CouponsConfig {
    /// The longest that any outcome is of use.
    pub(crate) fn kept_for_s(&self) -> u64 {
        let fresh = self.applicable_for_s.max(self.not_applicable_for_s);
        fresh.max(self.unknown_code_for_s).max(self.worked_for_s)
    }
}
