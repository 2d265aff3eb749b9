use data_model::{RunId, Timestamp};
use serde::{Deserialize, Serialize};

/// The summary of a run that hands brands to the lake; it becomes a row of `crawl_runs`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSummaryRow {
    /// The run.
    pub run: RunId,
    /// When it began.
    pub started_at: Timestamp,
    /// Brands that it has crawled by now.
    pub brands_seen: u64,
    /// Of these, crawls that failed.
    pub brands_failed: u64,
    /// Of these, crawls that found far fewer products than the brand had, and were not believed.
    pub brands_held_back: u64,
}

impl RunSummaryRow {
    /// A run that has nothing to say of itself but when it began.
    #[must_use]
    pub fn new(run: RunId, started_at: Timestamp) -> Self {
        Self {
            run,
            started_at,
            brands_seen: 0,
            brands_failed: 0,
            brands_held_back: 0,
        }
    }
}

/// The changes of a tick in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickCounts {
    /// Brands that were handed over and had not changed.
    pub brands_unchanged: u64,
    /// Brands that were replaced or removed.
    pub brands_changed: u64,
    /// Products of these brands now.
    pub products: u64,
    /// Products that were not there before.
    pub products_added: u64,
    /// Products that are gone.
    pub products_removed: u64,
    /// Variants of these brands now.
    pub variants: u64,
    /// Rows added to `price_history`.
    pub price_changes: u64,
    /// Records of these brands in quarantine now.
    pub quarantined: u64,
}
