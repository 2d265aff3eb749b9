use std::collections::BTreeMap;

use data_model::{BrandSlug, RunId, StoreHost, Timestamp};
use serde::{Deserialize, Serialize};

/// The outcome of asking a brand's store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// The lake took in something new.
    Changed,
    /// The lake has it as it is.
    Unchanged,
    /// The crawl found something doubtful, which waits for a second crawl or the operator.
    HeldBack,
    /// The store could not be read, or the lake could not be written.
    Failed,
}

impl CheckOutcome {
    /// All outcomes.
    pub const ALL: [Self; 4] = [Self::Changed, Self::Unchanged, Self::HeldBack, Self::Failed];

    /// The outcome in one word, as answers, metrics and files write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::HeldBack => "held_back",
            Self::Failed => "failed",
        }
    }

    /// `true` where the catalogue that is served is the one that the store had when it was asked.
    #[must_use]
    pub const fn is_good(self) -> bool {
        matches!(self, Self::Changed | Self::Unchanged)
    }
}

/// A crawl's report of one store that it asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// The brand's permanent host.
    pub store: StoreHost,
    /// The brand.
    pub slug: BrandSlug,
    /// When its turn was over.
    pub checked_at: Timestamp,
    /// Its outcome.
    pub outcome: CheckOutcome,
    /// One word of the crawl's closed list, where it failed.
    pub code: Option<String>,
    /// The event in words, where it failed or was held back.
    pub detail: Option<String>,
}

/// The last time that a brand's store was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// The brand.
    pub slug: BrandSlug,
    /// The run that asked.
    pub run: RunId,
    /// When its turn was over.
    pub checked_at: Timestamp,
    /// Its outcome.
    pub outcome: CheckOutcome,
    /// One word of the crawl's closed list, where it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The event in words, where it failed or was held back; cut to 400 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// When it was last found changed or unchanged; `None` if never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub good_at: Option<Timestamp>,
    /// The number of checks in a row that failed or were held back, up to and with this one.
    #[serde(default)]
    pub bad_in_row: u32,
    /// The rate of its changes.
    #[serde(default, skip_serializing_if = "ChangeRate::is_unknown")]
    pub changing: ChangeRate,
}

/// The rate at which a brand was found changed: sums over its good checks, of which older ones count less. The first
/// check of a brand, with nothing to compare, counts nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ChangeRate {
    /// Checks.
    pub checks: f64,
    /// Those that found it changed.
    pub changes: f64,
    /// The time between each and the one before, in seconds.
    pub span_s: f64,
}

/// The share of a check's weight that is left when the next one is made.
const KEPT_SHARE: f64 = 0.85;

impl ChangeRate {
    /// `true` where nothing was counted yet.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.checks <= 0.0
    }

    /// With one more good check, so long after the one before.
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

/// The end of a run as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// All its stores are through.
    Finished,
    /// It was stopped on request; the next run resumes it.
    Interrupted,
    /// It broke off: see [`LastRun::error`].
    Failed,
}

/// The last run that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastRun {
    /// The run.
    pub run: RunId,
    /// When it ended.
    pub ended_at: Timestamp,
    /// Its end.
    pub end: RunEnd,
    /// The reason why it broke off, where it did; cut to 400 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The last check of every brand, and the last run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Checks {
    /// The number of the event that says so; 0 where nothing was ever checked.
    #[serde(skip)]
    pub seq: u64,
    /// The last run that ended.
    pub last_run: Option<LastRun>,
    /// By permanent host.
    pub brands: BTreeMap<StoreHost, Check>,
}

/// The characters of a text that are kept.
const DETAIL_CHARS_MAX: usize = 400;

impl Checks {
    /// The last check of this store, if it was ever asked.
    #[must_use]
    pub fn of(&self, store: &StoreHost) -> Option<&Check> {
        self.brands.get(store)
    }

    /// The oldest and the newest check of brands; `None` where none was ever checked.
    #[must_use]
    pub fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let times = self.brands.values().map(|check| check.checked_at);
        Some((times.clone().min()?, times.max()?))
    }

    /// Takes in what a run says. A check that is older than the one that is known changes nothing, so that two crawls that
    /// end at once may be recorded in either order; one of a clock that was ahead gives way.
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
            // A resumed run, or one recorded anew because an answer was lost, records the same check again.
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

    /// Takes in how a run ended; one that ended before the last one changes nothing.
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
