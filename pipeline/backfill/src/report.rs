use std::collections::BTreeMap;

use data_model::{BrandSlug, RunId, StoreHost, Timestamp};
use pipeline_refresh::HoldReason;
use serde::{Deserialize, Serialize};

use crate::{Difference, Estimate, Range, SkipReason, Stage};

/// State of a backfill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackfillState {
    /// The backfill is in progress, or was killed. The next backfill with the same options resumes it.
    Running,
    /// The backfill was stopped on request. The next backfill with the same options resumes it.
    Interrupted,
    /// All stores are finished.
    Finished,
}

/// Outcome of one store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum StoreOutcome {
    /// The store has not been processed yet.
    Waiting,
    /// The store's current rows were replaced.
    Changed,
    /// The lake and the pages agree.
    Unchanged,
    /// The store was skipped.
    Left(SkipReason),
    /// The store was skipped, because a crawl with this result would be held back.
    Doubtful {
        /// Reasons for which a crawl would be held back.
        doubts: Vec<HoldReason>,
    },
    /// The store was skipped, because another process changed it meanwhile.
    Overtaken,
    /// The pages could not be read, or the lake refused the commit.
    Failed {
        /// One-word error code of a fixed set.
        code: String,
        /// Error message with its causes.
        reason: String,
    },
}

/// Result for one store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreReport {
    /// Slug of the brand.
    pub slug: BrandSlug,
    /// Store of the brand.
    pub store: StoreHost,
    /// Outcome for the store.
    #[serde(flatten)]
    pub outcome: StoreOutcome,
    /// Run whose crawl is reread. Absent if the store is skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// End of the reread crawl.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landed_at: Option<Timestamp>,
    /// True if the lake had newer data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_older: bool,
    /// Number of products on the landed pages, including those that cannot be parsed.
    pub products: u64,
    /// Decoded size of the landed pages in bytes.
    pub bytes: u64,
    /// Changes of the store. `None` if it was not read or the lake's earlier products cannot be read any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

/// Totals over the stores.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Number of all stores.
    pub stores: u64,
    /// Number of stores whose current rows were replaced, or would be.
    pub changed: u64,
    /// Number of stores for which the lake and the pages agree.
    pub unchanged: u64,
    /// Number of stores without a landing in the range, or with one that is older than the lake's data.
    pub left: u64,
    /// Number of stores whose pages give a result that a crawl would hold back.
    pub doubtful: u64,
    /// Number of stores that other processes changed meanwhile.
    pub overtaken: u64,
    /// Number of stores that failed.
    pub failed: u64,
    /// Number of stores that have not been processed yet.
    pub waiting: u64,
    /// Changes over all changed stores.
    pub difference: Difference,
}

/// Report of a backfill: `backfills/{id}.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Backfill {
    /// Id of the backfill, which identifies its commits in `crawl_runs`.
    pub id: RunId,
    /// State of the backfill.
    pub state: BackfillState,
    /// First pipeline stage of the backfill.
    pub stage: Stage,
    /// Brands to which the backfill was limited, if any.
    pub only: Option<Vec<BrandSlug>>,
    /// Time range of the crawls.
    pub range: Range,
    /// True if landed crawls older than the lake's data were used.
    pub older: bool,
    /// True if the backfill also accepted catalogues that a crawl would hold back.
    pub accept_collapse: bool,
    /// True if the backfill only read and reported.
    pub dry_run: bool,
    /// Number of times that the backfill was resumed.
    pub resumed: u32,
    /// Start of the backfill.
    pub started_at: Timestamp,
    /// Time at which the backfill was last active.
    pub ended_at: Timestamp,
    /// Number of commits to the lake since the last resumption.
    pub commits: u64,
    /// Time for `haat lake restore --as-of` to undo the backfill. `None` if the lake was empty.
    pub undo_as_of: Option<Timestamp>,
    /// Versions of the lake's tables before the backfill.
    pub versions: BTreeMap<String, u64>,
    /// Estimated duration and size.
    pub estimate: Estimate,
    /// Totals over the stores.
    pub totals: Totals,
    /// Result of each store, ordered by lake bucket.
    pub stores: Vec<StoreReport>,
}

impl Backfill {
    pub(crate) fn count(&mut self) {
        let mut totals = Totals::default();
        for store in &self.stores {
            totals.stores += 1;
            *match &store.outcome {
                StoreOutcome::Waiting => &mut totals.waiting,
                StoreOutcome::Changed => &mut totals.changed,
                StoreOutcome::Unchanged => &mut totals.unchanged,
                StoreOutcome::Left(_) => &mut totals.left,
                StoreOutcome::Doubtful { .. } => &mut totals.doubtful,
                StoreOutcome::Overtaken => &mut totals.overtaken,
                StoreOutcome::Failed { .. } => &mut totals.failed,
            } += 1;
            let is_done = matches!(store.outcome, StoreOutcome::Changed | StoreOutcome::Unchanged);
            if let Some(difference) = store.difference.as_ref().filter(|_| is_done) {
                totals.difference.add(difference);
            }
        }
        self.totals = totals;
    }

    /// Returns true if every store was read, and the lake and its pages agree.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let through = self.totals.changed + self.totals.unchanged;
        self.state == BackfillState::Finished && through == self.totals.stores
    }
}
