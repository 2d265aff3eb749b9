use std::time::Duration;

use data_model::{TimeZone, Timestamp};
use state::Day;

/// When something is asked, as limits see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    /// Nanoseconds since 1970.
    pub(super) now_ns: i64,
    /// The market's day.
    pub(super) day: i64,
    /// For how long it is that day.
    pub(super) day_left: Duration,
}

impl Moment {
    pub(super) fn of(now: Timestamp, zone: TimeZone) -> Self {
        let day = Day::of(now, zone);
        let ends = day.plus(1).begin(zone).micros();
        Self {
            now_ns: now.micros().saturating_mul(1000),
            day: day.number(),
            day_left: Duration::from_micros(ends.abs_diff(now.micros())),
        }
    }
}
