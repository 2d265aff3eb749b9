use std::collections::BTreeMap;

use data_model::{BrandSlug, RunId, StoreHost, Timestamp};
use serde::{Deserialize, Serialize};

data_model::named! {
    /// Outcome of a check of a brand's store.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum CheckOutcome {
        /// The store's catalogue changed and the lake was updated.
        Changed = "changed",
        /// The lake already has the store's current catalogue.
        Unchanged = "unchanged",
        /// The crawl found something doubtful that must be confirmed by a second crawl or the operator.
        HeldBack = "held_back",
        /// The store could not be read, or the lake could not be written.
        Failed = "failed",
    }
}

impl CheckOutcome {
    /// Returns `true` if the served catalogue is the one that the store had at the time of the check.
    #[must_use]
    pub const fn is_good(self) -> bool {
        matches!(self, Self::Changed | Self::Unchanged)
    }
}

/// A crawl's report on one store that it queried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// Permanent host of the brand's store.
    pub store: StoreHost,
    /// Slug of the brand.
    pub slug: BrandSlug,
    /// Time at which the check of the store ended.
    pub checked_at: Timestamp,
    /// Outcome of the check.
    pub outcome: CheckOutcome,
    /// Error code from the crawl's closed list, if the check failed.
    pub code: Option<String>,
    /// Description of the failure or of the reason for holding back.
    pub detail: Option<String>,
    /// `true` if the check found fewer products than the store may have.
    pub is_incomplete: bool,
}

/// Last check of a brand's store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Slug of the brand.
    pub slug: BrandSlug,
    /// Crawler run that made the check.
    pub run: RunId,
    /// Time at which the check of the store ended.
    pub checked_at: Timestamp,
    /// Outcome of the check.
    pub outcome: CheckOutcome,
    /// Error code from the crawl's closed list, if the check failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Description of the failure or of the reason for holding back, truncated to 400 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// `true` if the last good check found fewer products than the store may have.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_incomplete: bool,
    /// Time of the last check that found the catalogue changed or unchanged. `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub good_at: Option<Timestamp>,
    /// Number of consecutive checks, up to this one, that failed or were held back.
    #[serde(default)]
    pub bad_in_row: u32,
    /// Rate at which the brand's catalogue changes.
    #[serde(default, skip_serializing_if = "ChangeRate::is_unknown")]
    pub changing: ChangeRate,
}

/// Rate at which checks found a brand changed: weighted sums over its good checks, in which older checks have less
/// weight. The first check of a brand does not count, because there is nothing to compare with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ChangeRate {
    /// Weighted number of checks.
    pub checks: f64,
    /// Weighted number of checks that found a change.
    pub changes: f64,
    /// Weighted sum of the times between consecutive checks, in seconds.
    pub span_s: f64,
}

/// Factor by which the weight of earlier checks is reduced at each check.
const KEPT_SHARE: f64 = 0.85;

impl ChangeRate {
    /// Returns `true` if no check was counted yet.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.checks <= 0.0
    }

    /// Returns the rate with one more good check, made `after_ms` after the previous one.
    #[must_use]
    pub fn with(self, is_changed: bool, after_ms: i64) -> Self {
        let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
        Self {
            checks: rounded(self.checks * KEPT_SHARE + 1.0),
            changes: rounded(self.changes * KEPT_SHARE + f64::from(u8::from(is_changed))),
            span_s: rounded(self.span_s * KEPT_SHARE + after_ms.max(0) as f64 / 1000.0),
        }
    }
}

/// End of a crawler run as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// All stores of the run were processed.
    Finished,
    /// The run was stopped on request. The next run resumes it.
    Interrupted,
    /// The run aborted: see [`LastRun::error`].
    Failed,
}

/// Last crawler run that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastRun {
    /// Id of the run.
    pub run: RunId,
    /// Time at which the run ended.
    pub ended_at: Timestamp,
    /// End of the run.
    pub end: RunEnd,
    /// Reason why the run aborted, if it did, truncated to 400 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Last check of every brand, and last run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Checks {
    /// Number of the event with this state. 0 if nothing was ever checked.
    #[serde(skip)]
    pub seq: u64,
    /// Last run that ended.
    pub last_run: Option<LastRun>,
    /// Checks by permanent host.
    pub brands: BTreeMap<StoreHost, Check>,
}

const DETAIL_CHARS_MAX: usize = 400;

impl Checks {
    /// Returns the last check of this store, if any.
    #[must_use]
    pub fn of(&self, store: &StoreHost) -> Option<&Check> {
        self.brands.get(store)
    }

    /// Returns the times of the oldest and the newest check of the brands, or `None` if no brand was ever checked.
    #[must_use]
    pub fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let times = self.brands.values().map(|check| check.checked_at);
        Some((times.clone().min()?, times.max()?))
    }

    /// Merges the results of a run. A check that is older than the known one changes nothing, so that two crawls that
    /// end at the same time may be recorded in either order. A known check from a clock that was ahead is replaced.
    pub(crate) fn take(
        &mut self,
        run: &RunId,
        now: Timestamp,
        checked: &[CheckReport],
        is_registered: &dyn Fn(&StoreHost) -> bool,
    ) {
        let latest = now.latest_believed(0);
        for one in checked {
            let before = self.brands.get(&one.store);
            let is_newer = |before: &Check| before.checked_at > one.checked_at && before.checked_at <= latest;
            if before.is_some_and(is_newer) {
                continue;
            }
            // The same check can be recorded twice, by a resumed run or after a lost response.
            let is_same = |before: &Check| before.checked_at == one.checked_at && before.outcome == one.outcome;
            let same = before.is_some_and(|before| before.run == *run && is_same(before));
            if same {
                continue;
            }
            let good = one.outcome.is_good();
            let bad_before = before.map_or(0, |before| before.bad_in_row);
            let changing = before.map_or_else(ChangeRate::default, |before| before.changing);
            let changing = match before.and_then(|before| before.good_at) {
                Some(since) if good => {
                    let is_changed = one.outcome == CheckOutcome::Changed;
                    changing.with(is_changed, one.checked_at.millis_since(since))
                }
                _ => changing,
            };
            let check = Check {
                slug: one.slug.clone(),
                run: run.clone(),
                checked_at: one.checked_at,
                outcome: one.outcome,
                code: one.code.clone(),
                detail: one.detail.as_deref().map(cut),
                is_incomplete: if good {
                    one.is_incomplete
                } else {
                    before.is_some_and(|before| before.is_incomplete)
                },
                good_at: if good {
                    Some(one.checked_at)
                } else {
                    before.and_then(|before| before.good_at)
                },
                bad_in_row: if good { 0 } else { bad_before.saturating_add(1) },
                changing,
            };
            self.brands.insert(one.store.clone(), check);
        }
        self.brands.retain(|store, _| is_registered(store));
    }

    /// A run that ended before the known last run changes nothing.
    pub(crate) fn take_end(&mut self, run: &LastRun) {
        let latest = run.ended_at.latest_believed(0);
        let is_newer = |last: &LastRun| last.ended_at > run.ended_at && last.ended_at <= latest;
        if !self.last_run.as_ref().is_some_and(is_newer) {
            let error = run.error.as_deref().map(cut);
            self.last_run = Some(LastRun { error, ..run.clone() });
        }
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(DETAIL_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
