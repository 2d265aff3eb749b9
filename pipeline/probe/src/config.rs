use serde::{Deserialize, Serialize};

use crate::run::ProbeOptions;

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
