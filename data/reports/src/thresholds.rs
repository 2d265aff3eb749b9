use serde::{Deserialize, Serialize};

/// Thresholds above which the quality of the data holds a release back. Shares refer to one brand's products, unless
/// stated otherwise. A share of 1 is never exceeded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QualityConfig {
    /// `true` to hold a release back if a threshold is exceeded. The report is made in any case.
    pub hold: bool,
    /// Minimum number of products of a brand. Brands with fewer products, before or now, never hold a release back.
    pub products_min: u64,
    /// Maximum share of a brand's products that may disappear.
    pub products_fall_share_max: f64,
    /// Maximum rise of the share of products that lack a title, a description, media or a price. Each field is compared
    /// separately.
    pub missing_rise_share_max: f64,
    /// Maximum rise of the share of products without a category.
    pub uncategorised_rise_share_max: f64,
    /// Maximum rise of the share of products that repeat an id, a handle or a title.
    pub duplicate_rise_share_max: f64,
    /// Maximum rise of the share of records that could not be parsed.
    pub quarantined_rise_share_max: f64,
    /// Factor by which a price must rise or fall to count as a jump.
    pub price_jump_factor: u32,
    /// Maximum share of products whose price jumped.
    pub price_jump_share_max: f64,
    /// Maximum share of products whose currency changed.
    pub currency_change_share_max: f64,
    /// Maximum share of products in a currency other than the brand's most common one.
    pub currency_mix_share_max: f64,
    /// Maximum share of all brands that may be stale. A brand is stale if it had no good crawl for
    /// `doctor.check_age_s_max` seconds.
    pub stale_share_max: f64,
    /// Number of runs whose figures are stored.
    pub keep: u64,
}

impl Default for QualityConfig {
    fn default() -> Self {
        Self {
            hold: true,
            products_min: 20,
            // The crawl itself holds back a sharp fall until it is confirmed.
            products_fall_share_max: 1.0,
            missing_rise_share_max: 0.25,
            uncategorised_rise_share_max: 0.25,
            duplicate_rise_share_max: 0.25,
            quarantined_rise_share_max: 0.25,
            price_jump_factor: 5,
            price_jump_share_max: 0.25,
            currency_change_share_max: 0.1,
            currency_mix_share_max: 0.1,
            stale_share_max: 0.5,
            keep: 30,
        }
    }
}

/// Error: a threshold has an invalid value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("quality.{key} must be {must}, not {value}")]
pub struct QualityConfigError {
    key: &'static str,
    must: &'static str,
    value: String,
}

impl QualityConfig {
    /// Checks that every threshold is valid.
    ///
    /// # Errors
    /// The first invalid threshold.
    pub fn check(&self) -> Result<(), QualityConfigError> {
        let shares = [
            ("products_fall_share_max", self.products_fall_share_max),
            ("missing_rise_share_max", self.missing_rise_share_max),
            ("uncategorised_rise_share_max", self.uncategorised_rise_share_max),
            ("duplicate_rise_share_max", self.duplicate_rise_share_max),
            ("quarantined_rise_share_max", self.quarantined_rise_share_max),
            ("price_jump_share_max", self.price_jump_share_max),
            ("currency_change_share_max", self.currency_change_share_max),
            ("currency_mix_share_max", self.currency_mix_share_max),
            ("stale_share_max", self.stale_share_max),
        ];
        let error = |key, must, value: String| Err(QualityConfigError { key, must, value });
        for (key, value) in shares {
            if !(0.0..=1.0).contains(&value) {
                return error(key, "between 0 and 1", value.to_string());
            }
        }
        if !(2..=1_000).contains(&self.price_jump_factor) {
            return error(
                "price_jump_factor",
                "from 2 to 1000",
                self.price_jump_factor.to_string(),
            );
        }
        if !(2..=1_000).contains(&self.keep) {
            return error("keep", "from 2 to 1000", self.keep.to_string());
        }
        Ok(())
    }
}
