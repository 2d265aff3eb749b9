use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use data_model::{TimeZone, Timestamp};
use state::Day;

/// Time of a request in the form for limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    /// Nanoseconds since 1970.
    pub(super) now_ns: i64,
    /// Day in the market's time zone.
    pub(super) day: i64,
    /// Time until the end of the day.
    pub(super) day_left: Duration,
}

/// Calculator of days in the market's time zone. The current day is cached, because the time zone's rules cost more
/// than the rest of a verdict.
#[derive(Debug)]
pub(super) struct Days {
    zone: TimeZone,
    today: RwLock<Today>,
}

/// Day with its start and end, in microseconds since 1970. The default contains no time.
#[derive(Debug, Clone, Copy, Default)]
struct Today {
    day: i64,
    begin_us: i64,
    end_us: i64,
}

impl Days {
    pub(super) const fn of(zone: TimeZone) -> Self {
        let nothing = Today {
            day: 0,
            begin_us: 0,
            end_us: 0,
        };
        Self {
            zone,
            today: RwLock::new(nothing),
        }
    }

    #[cfg(feature = "valkey")]
    pub(super) const fn zone(&self) -> TimeZone {
        self.zone
    }

    /// Converts the time `now` to the form for limits.
    pub(super) fn at(&self, now: Timestamp) -> Moment {
        let now_us = now.micros();
        let known = *self.today.read().unwrap_or_else(PoisonError::into_inner);
        let today = if (known.begin_us..known.end_us).contains(&now_us) {
            known
        } else {
            let found = Today::of(now, self.zone);
            *self.today.write().unwrap_or_else(PoisonError::into_inner) = found;
            found
        };
        Moment {
            now_ns: now_us.saturating_mul(1000),
            day: today.day,
            day_left: Duration::from_micros(today.end_us.abs_diff(now_us)),
        }
    }
}

impl Today {
    fn of(now: Timestamp, zone: TimeZone) -> Self {
        let day = Day::of(now, zone);
        Self {
            day: day.number(),
            begin_us: day.begin(zone).micros(),
            end_us: day.plus(1).begin(zone).micros(),
        }
    }
}
