use std::collections::BTreeSet;

use data_model::BrandSlug;
use serde::{Deserialize, Serialize};

/// Limits for the questions to stores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeConfig {
    /// Maximum number of questions to one store within 24 hours, including those of earlier runs.
    pub questions_per_day_max: usize,
    /// Maximum number of questions to all stores together in one run.
    pub questions_per_run_max: usize,
    /// Maximum number of stores queried concurrently, each with its own rate limit.
    pub stores_concurrent_max: usize,
    /// Age in days after which an answer is requested again.
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
    /// Returns the options of a run over all brands.
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

/// Options that select the brands to probe and limit the questions.
#[derive(Debug, Clone)]
pub struct ProbeOptions {
    /// Brands to probe. `None` means all brands.
    pub only: Option<BTreeSet<BrandSlug>>,
    /// Maximum number of questions to one store within 24 hours, including those of earlier runs.
    pub budget_per_day: usize,
    /// Maximum number of questions to all stores together in the run.
    pub budget_per_run: usize,
    /// Maximum number of stores queried concurrently, each with its own rate limit.
    pub stores_concurrent: usize,
    /// Age in days after which an answer is requested again.
    pub fresh_days: u32,
    /// True to report the questions that would be sent, but send none.
    pub dry_run: bool,
}

impl Default for ProbeOptions {
    fn default() -> Self {
        ProbeConfig::default().options()
    }
}
