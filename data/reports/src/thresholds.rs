use serde::{Deserialize, Serialize};

/// When a release is held back for the quality of what it would hold. Shares are of one brand's products, unless they say
/// otherwise; a share of 1 is never exceeded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QualityConfig {
    /// `true` where thresholds hold a release back; the report is made in any case.
    pub hold: bool,
    /// Brands with fewer products, before or now, are told but hold nothing back.
    pub products_min: u64,
    /// Largest share of a brand's products that may be gone.
    pub products_fall_share_max: f64,
    /// Largest rise of the share of products without a title, without a description, without a picture or without a price.
    pub missing_rise_share_max: f64,
    /// Largest rise of the share of products without a category.
    pub uncategorised_rise_share_max: f64,
    /// Largest rise of the share of products that repeat an id, a handle or a title.
    pub duplicate_rise_share_max: f64,
    /// Largest rise of the share of records that could not be understood.
    pub quarantined_rise_share_max: f64,
    /// A price that is so many times what it was, or that part of it, jumped.
    pub price_jump_factor: u32,
    /// Largest share of products whose price jumped.
    pub price_jump_share_max: f64,
    /// Largest share of products whose currency changed.
    pub currency_change_share_max: f64,
    /// Largest share of products in another currency than most of their brand's.
    pub currency_mix_share_max: f64,
    /// Largest share of all brands that may be stale: no crawl of them was good for `doctor.check_age_s_max`.
    pub stale_share_max: f64,
    /// The runs whose figures are kept.
    pub keep: u64,
}

impl Default for QualityConfig {
    fn default() -> Self {
        Self {
            hold: true,
            products_min: 20,
            // The crawl itself holds a sharp fall back until it is confirmed.
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

/// A threshold that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("quality.{key} must be {must}, not {value}")]
pub struct QualityConfigError {
    key: &'static str,
    must: &'static str,
    value: String,
}

impl QualityConfig {
    /// Checks that every threshold makes sense.
    ///
    /// # Errors
    /// The first that does not.
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
