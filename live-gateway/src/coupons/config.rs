use serde::{Deserialize, Serialize};

/// Settings for finding and testing discount codes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CouponsConfig {
    /// Maximum time for a response, in milliseconds. Codes that are not tested in time are reported as untested. The
    /// server's own request timeout must be longer.
    pub budget_ms: u64,
    /// Maximum time for a test job at one store, in milliseconds. The job continues after the response, so that later
    /// requests can use the outcomes.
    pub testing_ms: u64,
    /// Number of codes that are entered together; the platform accepts at most 250.
    pub codes_per_call: usize,
    /// Maximum number of calls to a store in one test job.
    pub calls_max: usize,
    /// Maximum number of stores at which codes are tested concurrently.
    pub stores_at_once_max: usize,
    /// Seconds for which a code that applied is reported without another test.
    pub applicable_for_s: u64,
    /// Seconds for which a code that did not apply to the item is not tested again.
    pub not_applicable_for_s: u64,
    /// Seconds for which a code that does not exist at the store is not tested again.
    pub unknown_code_for_s: u64,
    /// Seconds for which a code that applied before is tested ahead of others.
    pub worked_for_s: u64,
    /// Seconds for which a store that could not be queried is not queried again.
    pub rest_s: u64,
    /// Address for testing shipping codes, whose discount shows only with a delivery address. The address is used for
    /// brands that sell to its country. `None` disables these tests.
    pub address: Option<CouponAddress>,
}

/// Address to which nothing is ever sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CouponAddress {
    /// Country code of two uppercase letters.
    pub country: String,
    /// Postal code of the address.
    pub zip: String,
    /// The platform's code of the province.
    #[serde(default)]
    pub province: Option<String>,
    /// City of the address.
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
    /// Returns the longest time for which any outcome is useful, in seconds.
    pub(crate) fn kept_for_s(&self) -> u64 {
        let fresh = self.applicable_for_s.max(self.not_applicable_for_s);
        fresh.max(self.unknown_code_for_s).max(self.worked_for_s)
    }
}
