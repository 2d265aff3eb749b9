use std::collections::BTreeMap;

use data_model::{BrandSlug, RunId, StoreHost, Timestamp};
use pipeline_refresh::HoldReason;
use serde::{Deserialize, Serialize};

use crate::{Difference, Estimate, Range, SkipReason, Stage};

/// The stage of a backfill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackfillState {
    /// At work, or killed while at work: the next one of the same goes on with it.
    Running,
    /// Stopped on request; the next one of the same goes on with it.
    Interrupted,
    /// All its stores are through.
    Finished,
}

/// The outcome of one store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum StoreOutcome {
    /// Its turn has not come.
    Waiting,
    /// Its present rows were replaced.
    Changed,
    /// The lake has it as its pages say.
    Unchanged,
    /// It was left as it is.
    Left(SkipReason),
    /// A crawl that found this would be held back; it was left as it is.
    Doubtful {
        /// The reasons for doubt.
        doubts: Vec<HoldReason>,
    },
    /// Somebody else changed it meanwhile; it was left as it is.
    Overtaken,
    /// Its pages could not be read, or the lake did not take it.
    Failed {
        /// One word of a closed list.
        code: String,
        /// The fault, with its causes.
        reason: String,
    },
}

/// One store's part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreReport {
    /// The brand.
    pub slug: BrandSlug,
    /// Its store.
    pub store: StoreHost,
    /// Its outcome.
    #[serde(flatten)]
    pub outcome: StoreOutcome,
    /// The run whose crawl is read again; absent of a store that is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The end of that crawl.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landed_at: Option<Timestamp>,
    /// The lake had something newer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_older: bool,
    /// Products that the landed pages list, those that cannot be understood among them.
    pub products: u64,
    /// Decoded bytes of these pages.
    pub bytes: u64,
    /// The changes; `None` where it was not read, and where the lake's products of before cannot be read any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

/// Counts over the stores.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// All of them.
    pub stores: u64,
    /// Of these, stores of which the present rows were replaced, or would be.
    pub changed: u64,
    /// Stores that are as their pages say.
    pub unchanged: u64,
    /// Stores without a landing in the range, or with one that is older than what the lake has.
    pub left: u64,
    /// Stores whose pages say something that is not believed.
    pub doubtful: u64,
    /// Stores that others changed meanwhile.
    pub overtaken: u64,
    /// Stores that failed.
    pub failed: u64,
    /// Stores whose turn has not come.
    pub waiting: u64,
    /// The changes of those that changed.
    pub difference: Difference,
}

/// The work of a backfill: `backfills/{id}.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Backfill {
    /// Its name, by which `crawl_runs` knows its ticks.
    pub id: RunId,
    /// Its stage.
    pub state: BackfillState,
    /// The first stage.
    pub stage: Stage,
    /// The brands it was limited to, if it was.
    pub only: Option<Vec<BrandSlug>>,
    /// The time range.
    pub range: Range,
    /// Landings were taken that are older than what the lake had.
    pub older: bool,
    /// Pages were taken that a crawl would hold back.
    pub accept_collapse: bool,
    /// It only looked.
    pub dry_run: bool,
    /// The number of times that it was gone on with.
    pub resumed: u32,
    /// Its beginning.
    pub started_at: Timestamp,
    /// The moment at which it was last at work.
    pub ended_at: Timestamp,
    /// Commits to the lake, of its last part.
    pub commits: u64,
    /// The moment that `haat lake restore --as-of` is to be given to undo it; `None` where the lake was empty.
    pub undo_as_of: Option<Timestamp>,
    /// The lake's tables before it began.
    pub versions: BTreeMap<String, u64>,
    /// The time and size that were expected.
    pub estimate: Estimate,
    /// Counts over the stores.
    pub totals: Totals,
    /// Each store, by the part of the lake that it is in.
    pub stores: Vec<StoreReport>,
}

impl Backfill {
    /// Counts the stores anew.
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

    /// True where every store was read and is as its pages say.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let through = self.totals.changed + self.totals.unchanged;
        self.state == BackfillState::Finished && through == self.totals.stores
    }
}
