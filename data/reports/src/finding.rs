//! A quality figure that exceeds its threshold.

use std::fmt;

use data_model::BrandSlug;
use serde::{Deserialize, Serialize};

use crate::thresholds::QualityConfig;

/// A key in the section `quality` of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Threshold {
    /// See [`QualityConfig::products_fall_share_max`]. Every other threshold is also named after its key.
    ProductsFallShareMax,
    /// Products without titles, descriptions, media or prices.
    MissingRiseShareMax,
    /// Products without a category.
    UncategorisedRiseShareMax,
    /// Repeated ids, handles or titles.
    DuplicateRiseShareMax,
    /// Quarantined records.
    QuarantinedRiseShareMax,
    /// Price jumps.
    PriceJumpShareMax,
    /// Products whose currency changed.
    CurrencyChangeShareMax,
    /// Products in a currency other than the brand's most common one.
    CurrencyMixShareMax,
    /// Stale brands.
    StaleShareMax,
}

impl Threshold {
    /// Returns the name of the key in the section `quality`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ProductsFallShareMax => "products_fall_share_max",
            Self::MissingRiseShareMax => "missing_rise_share_max",
            Self::UncategorisedRiseShareMax => "uncategorised_rise_share_max",
            Self::DuplicateRiseShareMax => "duplicate_rise_share_max",
            Self::QuarantinedRiseShareMax => "quarantined_rise_share_max",
            Self::PriceJumpShareMax => "price_jump_share_max",
            Self::CurrencyChangeShareMax => "currency_change_share_max",
            Self::CurrencyMixShareMax => "currency_mix_share_max",
            Self::StaleShareMax => "stale_share_max",
        }
    }

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

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
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
