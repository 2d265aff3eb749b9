use std::collections::BTreeSet;

use data_model::BrandSlug;
use serde::{Deserialize, Serialize};

/// Bounds of the questions to stores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeConfig {
    /// Most questions to one store within 24 hours, those of earlier runs counted.
    pub questions_per_day_max: usize,
    /// Most questions of one run, to all stores together.
    pub questions_per_run_max: usize,
    /// Most stores that are asked at the same time, each at its own pace.
    pub stores_concurrent_max: usize,
    /// Answers older than this are asked for again, in days.
    pub answer_age_days_max: u32,
}

impl Default for ProbeConfig {
    fn default() -> Self {
        Self {
            questions_per_day_max: 40,
            questions_per_run_max: 20_000,
            stores_concurrent_max: 16,
            answer_age_days_max: 60,
        }
    }
}

impl ProbeConfig {
    /// A run over all brands.
    #[must_use]
    pub fn options(&self) -> ProbeOptions {
        ProbeOptions {
            only: None,
            budget_per_day: self.questions_per_day_max,
            budget_per_run: self.questions_per_run_max,
            stores_concurrent: self.stores_concurrent_max,
            fresh_days: self.answer_age_days_max,
            dry_run: false,
        }
    }
}

/// The questions to ask, and their number.
#[derive(Debug, Clone)]
pub struct ProbeOptions {
    /// Only these brands; all where `None`.
    pub only: Option<BTreeSet<BrandSlug>>,
    /// Most questions to a store within 24 hours, those of earlier runs counted.
    pub budget_per_day: usize,
    /// Most questions of the run, to all stores together.
    pub budget_per_run: usize,
    /// Most stores that are asked at the same time, each at its own pace.
    pub stores_concurrent: usize,
    /// Answers older than this are asked for again, in days.
    pub fresh_days: u32,
    /// Say what would be asked, but ask nothing.
    pub dry_run: bool,
}

impl Default for ProbeOptions {
    fn default() -> Self {
        ProbeConfig::default().options()
    }
}
