use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, SecondsFormat, Utc};

/// A point in time, in microseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

/// Error: a text is not an RFC 3339 timestamp, or is outside the years 0 to 9999.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an RFC 3339 timestamp: {0:?}")]
pub struct TimestampError(String);

/// Range that RFC 3339 can express: 0000-01-01 to 10000-01-01, in microseconds.
const MICROS: std::ops::Range<i64> = -62_167_219_200_000_000..253_402_300_800_000_000;

/// Maximum tolerated difference between the clocks of two machines, in milliseconds.
pub const CLOCK_SKEW_MS: i64 = 5 * 60 * 1000;

impl Timestamp {
    /// Builds a timestamp from microseconds since the epoch. Values that RFC 3339 cannot express are clamped.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        if micros < MICROS.start {
            Self(MICROS.start)
        } else if micros >= MICROS.end {
            Self(MICROS.end - 1)
        } else {
            Self(micros)
        }
    }

    /// Returns the microseconds since the epoch.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Returns the time `millis` later, or earlier if negative. The result is clamped like [`Timestamp::from_micros`].
    #[must_use]
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self::from_micros(self.0.saturating_add(millis.saturating_mul(1000)))
    }

    /// Returns the milliseconds from `earlier` to this time, which are negative if `earlier` is later.
    #[must_use]
    pub const fn millis_since(self, earlier: Self) -> i64 {
        (self.0 - earlier.0) / 1000
    }

    /// Returns the latest plausible value of a stored timestamp, where `self` is the current time. A stored timestamp
    /// may be up to `span_ms` plus [`CLOCK_SKEW_MS`] in the future. Later values come from a machine with a wrong
    /// clock.
    #[must_use]
    pub const fn latest_believed(self, span_ms: i64) -> Self {
        self.plus_millis(span_ms.saturating_add(CLOCK_SKEW_MS))
    }

    /// Returns `true` if this stored timestamp is at least `after_ms` before `now`. A timestamp in the future beyond
    /// clock skew also returns `true`: it comes from a wrong clock, so that any task that waits for it is due.
    #[must_use]
    pub const fn is_past_by(self, now: Self, after_ms: i64) -> bool {
        now.millis_since(self) >= after_ms || self.0 > now.latest_believed(0).0
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = DateTime::<Utc>::from_timestamp_micros(self.0).unwrap_or(DateTime::UNIX_EPOCH);
        f.write_str(&moment.to_rfc3339_opts(SecondsFormat::AutoSi, true))
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let moment = DateTime::parse_from_rfc3339(text).map_err(|_| TimestampError(text.chars().take(64).collect()))?;
        Ok(Self::from_micros(moment.timestamp_micros()))
    }
}

crate::text_serde!(Timestamp);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shop_offsets_are_kept_as_the_same_moment_in_utc() {
        let moment: Timestamp = "2025-09-17T12:06:11+05:30".parse().unwrap();
        assert_eq!(moment.to_string(), "2025-09-17T06:36:11Z");
    }

    #[test]
    fn nonsense_is_refused() {
        assert!("yesterday".parse::<Timestamp>().is_err());
    }
}
