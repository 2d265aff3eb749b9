//! A quality figure that exceeds its threshold.

use std::fmt;

use data_model::BrandSlug;
use serde::{Deserialize, Serialize};

use crate::thresholds::QualityConfig;

data_model::named! {
    /// A key in the section `quality` of the configuration.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Threshold {
        /// See [`QualityConfig::products_fall_share_max`]. Every other threshold is also named after its key.
        ProductsFallShareMax = "products_fall_share_max",
        /// Products without titles, descriptions, media or prices.
        MissingRiseShareMax = "missing_rise_share_max",
        /// Products without a category.
        UncategorisedRiseShareMax = "uncategorised_rise_share_max",
        /// Repeated ids, handles or titles.
        DuplicateRiseShareMax = "duplicate_rise_share_max",
        /// Quarantined records.
        QuarantinedRiseShareMax = "quarantined_rise_share_max",
        /// Price jumps.
        PriceJumpShareMax = "price_jump_share_max",
        /// Products whose currency changed.
        CurrencyChangeShareMax = "currency_change_share_max",
        /// Products in a currency other than the brand's most common one.
        CurrencyMixShareMax = "currency_mix_share_max",
        /// Stale brands.
        StaleShareMax = "stale_share_max",
    }
}

impl Threshold {
    pub(crate) const fn limit(self, config: &QualityConfig) -> f64 {
        match self {
            Self::ProductsFallShareMax => config.products_fall_share_max,
            Self::MissingRiseShareMax => config.missing_rise_share_max,
            Self::UncategorisedRiseShareMax => config.uncategorised_rise_share_max,
            Self::DuplicateRiseShareMax => config.duplicate_rise_share_max,
            Self::QuarantinedRiseShareMax => config.quarantined_rise_share_max,
            Self::PriceJumpShareMax => config.price_jump_share_max,
            Self::CurrencyChangeShareMax => config.currency_change_share_max,
            Self::CurrencyMixShareMax => config.currency_mix_share_max,
            Self::StaleShareMax => config.stale_share_max,
        }
    }
}

/// A quality figure that exceeds its threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Threshold that is exceeded.
    pub threshold: Threshold,
    /// Configured limit.
    pub limit: f64,
    /// Actual figure, rounded to three decimals.
    pub figure: f64,
    /// Brand of the finding. `None` if it is about all brands.
    pub brand: Option<BrandSlug>,
    /// Description of the finding.
    pub detail: String,
}

impl Finding {
    /// Returns the text of a finding about a brand, with the threshold.
    #[must_use]
    pub fn of_brand(self) -> String {
        Self { brand: None, ..self }.to_string()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(brand) = &self.brand {
            write!(f, "{brand}: ")?;
        }
        let Self {
            detail,
            threshold,
            figure,
            limit,
            ..
        } = self;
        write!(f, "{detail} (quality.{threshold} is {limit}, the value is {figure})")
    }
}
