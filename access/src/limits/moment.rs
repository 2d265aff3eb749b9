use std::time::Duration;

use data_model::Timestamp;
use state::Day;

const DAY_MICROS: i64 = 86_400_000_000;
const MINUTE_MICROS: i64 = 60_000_000;

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
    pub(super) fn of(now: Timestamp, utc_offset_minutes: i32) -> Self {
        let day = Day::of(now, utc_offset_minutes).number();
        let end_micros = (day + 1) * DAY_MICROS - i64::from(utc_offset_minutes) * MINUTE_MICROS;
        Self {
            now_ns: now.micros().saturating_mul(1000),
            day,
            day_left: Duration::from_micros(end_micros.abs_diff(now.micros())),
        }
    }
}
