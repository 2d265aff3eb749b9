//! Interval between crawls of a brand, which is long if the brand rarely changes. The module is pure.

use std::collections::BTreeSet;

use data_checks::{ChangeRate, Check, CheckOutcome};
use data_model::{StoreHost, Timestamp};
use serde::{Deserialize, Serialize};

/// Limits of the interval between crawls of a brand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CadenceConfig {
    /// Minimum interval in seconds between two crawls of a brand, however often it changes.
    pub interval_min_s: u64,
    /// Interval in seconds between crawls of a brand whose change rate is not known yet.
    pub interval_start_s: u64,
    /// Maximum interval in seconds between two crawls of a brand, however rarely it changes.
    pub interval_max_s: u64,
}

impl Default for CadenceConfig {
    fn default() -> Self {
        Self {
            interval_min_s: 3_600,
            interval_start_s: 6 * 3_600,
            interval_max_s: 24 * 3_600,
        }
    }
}

impl CadenceConfig {
    pub(crate) const fn is_in_order(&self) -> bool {
        0 < self.interval_min_s
            && self.interval_min_s <= self.interval_start_s
            && self.interval_start_s <= self.interval_max_s
    }
}

/// Returns the seconds after which a brand with this change rate has changed with a probability of one half.
///
/// Changes are assumed to be independent, so the probability of no change falls exponentially with time. The
/// probability of a change between two checks is estimated from the checks so far and one imaginary check, which comes
/// after the initial interval and counts as half a change.
#[must_use]
pub fn interval_s(changing: &ChangeRate, config: &CadenceConfig) -> u64 {
    let known = |value: f64| if value.is_finite() { value.max(0.0) } else { 0.0 };
    let checks = known(changing.checks);
    let changes = known(changing.changes).min(checks);
    let span_s = known(changing.span_s);
    let mean_s = (span_s + config.interval_start_s as f64) / (checks + 1.0);
    let unchanged = 1.0 - (changes + 0.5) / (checks + 1.0);
    let per_second = unchanged.ln().abs() / mean_s;
    let wanted_s = std::f64::consts::LN_2 / per_second;
    // Infinite and undefined values are also limited to the range.
    (wanted_s.round() as u64).clamp(config.interval_min_s, config.interval_max_s.max(config.interval_min_s))
}

/// Returns the time at which a brand must be queried again; `None` if it was never queried.
#[must_use]
pub fn due_at(check: Option<&Check>, config: &CadenceConfig) -> Option<Timestamp> {
    let check = check?;
    let pause_s = match check.outcome {
        CheckOutcome::Changed | CheckOutcome::Unchanged => interval_s(&check.changing, config),
        // A crawl that is held back waits for another crawl with the same result.
        CheckOutcome::HeldBack => config.interval_min_s,
        CheckOutcome::Failed => {
            let doublings = check.bad_in_row.saturating_sub(1).min(20);
            let pause_s = config.interval_min_s.saturating_mul(1 << doublings);
            pause_s.min(config.interval_max_s)
        }
    };
    let pause_ms = i64::try_from(pause_s.saturating_mul(1000)).unwrap_or(i64::MAX);
    Some(check.checked_at.plus_millis(pause_ms))
}

/// True if a brand must be queried now. A due time further ahead than the longest interval comes from a wrong clock.
#[must_use]
pub fn is_due(check: Option<&Check>, config: &CadenceConfig, now: Timestamp) -> bool {
    let Some(at) = due_at(check, config) else {
        return true;
    };
    let longest_ms = i64::try_from(config.interval_max_s.saturating_mul(1000)).unwrap_or(i64::MAX);
    at <= now || at > now.plus_millis(longest_ms.saturating_mul(2))
}

/// Returns the stores that must be queried now. Stores with rows in a damaged file are queried together, because a file
/// is rewritten only if all of its stores were crawled. Such a group is due if one of its stores is due, or if none was
/// queried within the shortest interval.
#[must_use]
pub fn due_stores<'a>(
    stores: &[&StoreHost],
    damaged: &BTreeSet<StoreHost>,
    check: impl Fn(&StoreHost) -> Option<&'a Check>,
    config: &CadenceConfig,
    now: Timestamp,
) -> BTreeSet<StoreHost> {
    let is_due = |store: &StoreHost| is_due(check(store), config, now);
    let mut due: BTreeSet<StoreHost> = stores.iter().copied().filter(|store| is_due(store)).cloned().collect();
    let pause_ms = i64::try_from(config.interval_min_s.saturating_mul(1000)).unwrap_or(i64::MAX);
    let rests = |store: &StoreHost| check(store).is_none_or(|check| check.checked_at.is_past_by(now, pause_ms));
    let damaged: Vec<&StoreHost> = stores
        .iter()
        .copied()
        .filter(|store| damaged.contains(*store))
        .collect();
    if damaged.iter().any(|store| due.contains(*store)) || damaged.iter().all(|store| rests(store)) {
        due.extend(damaged.into_iter().cloned());
    }
    due
}
