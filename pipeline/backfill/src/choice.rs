//! The choice of the landing of a store that is read again. Pure.

use data_model::{RunId, Timestamp};
use pipeline_crawl::StoreCrawl;
use serde::{Deserialize, Serialize};

use crate::Range;

/// A store beside its landings, as far as it is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoreRecord<'a> {
    /// The moment at which the brand was registered: a landing of before it is that of a brand that was removed.
    pub(crate) added_at: Timestamp,
    /// Of the catalogue that the lake has: when it was observed, and by which run. `None` where it has none.
    pub(crate) in_lake: Option<(Timestamp, &'a RunId)>,
    /// Of the last crawl that the lake has taken in: its run, and the one whose landing has the pages.
    pub(crate) taken: Option<(&'a RunId, &'a RunId)>,
}

/// The reason why a store is left as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "left", rename_all = "snake_case")]
pub enum SkipReason {
    /// No complete landing of it ended in the range.
    NothingLanded,
    /// Its newest landing in the range is older than what the lake has.
    Older {
        /// The end of the landing.
        landed_at: Timestamp,
        /// The moment at which the lake's content was observed.
        lake_at: Timestamp,
    },
}

/// A landing that is to be read again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChosenLanding<'a> {
    pub(crate) crawl: &'a StoreCrawl,
    /// The lake has something newer.
    pub(crate) is_older: bool,
}

/// True of a landing that may be looked at at all: the newest such decides.
pub(crate) fn may_be(crawl: &StoreCrawl, known: StoreRecord<'_>, range: &Range) -> bool {
    range.has(crawl.ended_at) && crawl.ended_at >= known.added_at && is_believed(crawl, known)
}

/// True where the lake has ever taken in what this crawl found. A find that was held back, or that is of a crawl that was
/// killed before its commit, is for the next crawl to judge.
fn is_believed(crawl: &StoreCrawl, known: StoreRecord<'_>) -> bool {
    let Some((lake_at, lake_run)) = known.in_lake else {
        return true;
    };
    let is_taken = known
        .taken
        .is_some_and(|(run, landing)| crawl.run == *run || crawl.landing == *landing);
    is_taken || crawl.run == *lake_run || crawl.landing == *lake_run || crawl.ended_at < lake_at
}

/// The landing to read again: the newest that may be.
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
