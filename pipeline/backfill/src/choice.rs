//! Chooses which landing of a store is reread. The module does no I/O.

use data_model::{RunId, Timestamp};
use pipeline_crawl::StoreCrawl;
use serde::{Deserialize, Serialize};

use crate::Range;

#[derive(Debug, Clone, Copy)]
pub(crate) struct StoreRecord<'a> {
    /// Time at which the brand was registered. An earlier landing belongs to a brand that was removed.
    pub(crate) added_at: Timestamp,
    /// Observation time and run of the catalogue in the lake. `None` if the lake has none.
    pub(crate) in_lake: Option<(Timestamp, &'a RunId)>,
    /// Last crawl that the lake accepted: its run, and the run whose landing has the pages.
    pub(crate) taken: Option<(&'a RunId, &'a RunId)>,
}

/// Reason why a store is skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "left", rename_all = "snake_case")]
pub enum SkipReason {
    /// No complete landing of the store ended in the range.
    NothingLanded,
    /// The newest landing in the range is older than the lake's data.
    Older {
        /// End of the landing.
        landed_at: Timestamp,
        /// Time at which the lake's data was observed.
        lake_at: Timestamp,
    },
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ChosenLanding<'a> {
    pub(crate) crawl: &'a StoreCrawl,
    /// True if the lake has newer data.
    pub(crate) is_older: bool,
}

/// Returns true if the landing is a candidate.
pub(crate) fn may_be(crawl: &StoreCrawl, known: StoreRecord<'_>, range: &Range) -> bool {
    range.has(crawl.ended_at) && crawl.ended_at >= known.added_at && is_believed(crawl, known)
}

/// Returns true if the lake ever accepted this crawl. A crawl that was held back, or killed before its commit, must be
/// checked by the next crawl.
fn is_believed(crawl: &StoreCrawl, known: StoreRecord<'_>) -> bool {
    let Some((lake_at, lake_run)) = known.in_lake else {
        return true;
    };
    let is_taken = known
        .taken
        .is_some_and(|(run, landing)| crawl.run == *run || crawl.landing == *landing);
    is_taken || crawl.run == *lake_run || crawl.landing == *lake_run || crawl.ended_at < lake_at
}

/// Chooses the newest candidate.
pub(crate) fn choose<'a>(
    newest: Option<&'a StoreCrawl>,
    known: StoreRecord<'_>,
    takes_older: bool,
) -> Result<ChosenLanding<'a>, SkipReason> {
    let crawl = newest.ok_or(SkipReason::NothingLanded)?;
    let older = known.in_lake.filter(|(lake_at, lake_run)| {
        let is_it = crawl.run == **lake_run || crawl.landing == **lake_run;
        !is_it && crawl.ended_at < *lake_at
    });
    match older {
        Some((lake_at, _)) if !takes_older => Err(SkipReason::Older {
            landed_at: crawl.ended_at,
            lake_at,
        }),
        older => Ok(ChosenLanding {
            crawl,
            is_older: older.is_some(),
        }),
    }
}
