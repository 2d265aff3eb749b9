use data_model::{RunId, Timestamp};
use serde::{Deserialize, Serialize};

/// Summary of a run that commits brands to the lake, as a row of `crawl_runs`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSummaryRow {
    /// Id of the run.
    pub run: RunId,
    /// Start of the run.
    pub started_at: Timestamp,
    /// Number of brands that the run has crawled so far.
    pub brands_seen: u64,
    /// Number of crawls that failed.
    pub brands_failed: u64,
    /// Number of crawls that were rejected because they found far fewer products than the brand had.
    pub brands_held_back: u64,
}

impl RunSummaryRow {
    /// Creates a summary with only a start time and zero counts.
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

/// Numbers of items that a commit batch changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickCounts {
    /// Number of committed brands that had not changed.
    pub brands_unchanged: u64,
    /// Number of brands that were replaced or removed.
    pub brands_changed: u64,
    /// Number of products of these brands now.
    pub products: u64,
    /// Number of products that were not listed before.
    pub products_added: u64,
    /// Number of products that are gone.
    pub products_removed: u64,
    /// Number of variants of these brands now.
    pub variants: u64,
    /// Number of rows added to `price_history`.
    pub price_changes: u64,
    /// Number of quarantined records of these brands now.
    pub quarantined: u64,
}
