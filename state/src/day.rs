use std::fmt;

use chrono::{DateTime, NaiveDate};
use data_model::{TimeZone, Timestamp};

/// A calendar day of the market, as a number of days since 1970-01-01; formatted as `2026-11-23`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(i64);

impl Day {
    /// Returns the day of `moment` in the time zone `zone`.
    #[must_use]
    pub fn of(moment: Timestamp, zone: TimeZone) -> Self {
        Self(zone.day(moment))
    }

    /// Returns the start of the day in the time zone `zone`.
    #[must_use]
    pub fn begin(self, zone: TimeZone) -> Timestamp {
        zone.day_begin(self.0)
    }

    /// Creates a day from the number of days since 1970-01-01.
    #[must_use]
    pub const fn from_number(number: i64) -> Self {
        Self(number)
    }

    /// Returns the number of days since 1970-01-01.
    #[must_use]
    pub const fn number(self) -> i64 {
        self.0
    }

    /// Returns the day `days` later, or earlier if `days` is negative.
    #[must_use]
    pub const fn plus(self, days: i64) -> Self {
        Self(self.0.saturating_add(days))
    }

    fn date(self) -> NaiveDate {
        let moment = DateTime::from_timestamp(self.0.saturating_mul(86_400), 0);
        moment.unwrap_or_default().date_naive()
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.date(), f)
    }
}

impl std::str::FromStr for Day {
    type Err = chrono::ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let date: NaiveDate = text.parse()?;
        let begin = NaiveDate::default();
        Ok(Self(date.signed_duration_since(begin).num_days()))
    }
}

data_model::text_serde!(Day);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_the_markets_own_midnight() {
        let zone: TimeZone = "Asia/Kolkata".parse().unwrap();
        let before: Timestamp = "2026-11-22T18:29:59.999999Z".parse().unwrap();
        let after: Timestamp = "2026-11-22T18:30:00Z".parse().unwrap();
        assert_eq!(Day::of(before, zone).to_string(), "2026-11-22");
        assert_eq!(Day::of(after, zone).to_string(), "2026-11-23");
        assert_eq!(Day::of(after, zone).begin(zone), after);
        assert_eq!(
            Day::of(Timestamp::from_micros(-1), TimeZone::UTC).to_string(),
            "1969-12-31"
        );
    }

    #[test]
    fn a_day_is_read_as_it_is_written() {
        let day: Day = "2024-02-29".parse().unwrap();
        assert_eq!(day.to_string(), "2024-02-29");
        assert_eq!(day.plus(1).to_string(), "2024-03-01");
        assert!("2023-02-29".parse::<Day>().is_err());
    }
}
