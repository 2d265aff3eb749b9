use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Days, NaiveDate, NaiveTime, Offset, TimeDelta, TimeZone as _, Utc};
use chrono_tz::Tz;

use crate::Timestamp;

/// A time zone of the IANA database, including daylight saving time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeZone(Tz);

/// Error: a text does not name a time zone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown time zone {0:?}: use an IANA name such as Asia/Kolkata, Europe/Berlin or UTC")]
pub struct TimeZoneError(String);

/// Clocks that skip midnight are set forward by a multiple of this.
const GAP_STEP: TimeDelta = TimeDelta::minutes(15);
/// Limit of the steps of a forward clock change. The largest change ever was a day (Samoa, 2011).
const GAP_STEPS_MAX: i32 = 26 * 4;

/// Countries with a single time zone. Spain and Portugal are missing because their islands differ.
const COUNTRIES: [(&str, Tz); 21] = [
    ("AE", Tz::Asia__Dubai),
    ("AT", Tz::Europe__Vienna),
    ("BD", Tz::Asia__Dhaka),
    ("BE", Tz::Europe__Brussels),
    ("CH", Tz::Europe__Zurich),
    ("CN", Tz::Asia__Shanghai),
    ("DE", Tz::Europe__Berlin),
    ("DK", Tz::Europe__Copenhagen),
    ("GB", Tz::Europe__London),
    ("HK", Tz::Asia__Hong_Kong),
    ("IE", Tz::Europe__Dublin),
    ("IN", Tz::Asia__Kolkata),
    ("IT", Tz::Europe__Rome),
    ("JP", Tz::Asia__Tokyo),
    ("KR", Tz::Asia__Seoul),
    ("LK", Tz::Asia__Colombo),
    ("NP", Tz::Asia__Kathmandu),
    ("PK", Tz::Asia__Karachi),
    ("SE", Tz::Europe__Stockholm),
    ("SG", Tz::Asia__Singapore),
    ("TH", Tz::Asia__Bangkok),
];

impl TimeZone {
    /// The zone `Asia/Kolkata`.
    pub const INDIA: Self = Self(Tz::Asia__Kolkata);
    /// The zone `UTC`.
    pub const UTC: Self = Self(Tz::UTC);

    /// Returns the time zone of a country by its ISO 3166 code, or `None` if the country has several zones or is not in
    /// the list.
    #[must_use]
    pub fn of_country(code: &str) -> Option<Self> {
        let of = |(country, _): &&(&str, Tz)| *country == code;
        COUNTRIES.iter().find(of).map(|(_, zone)| Self(*zone))
    }

    /// Returns the IANA name of the zone.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Returns the UTC offset at this time, in milliseconds. It is positive ahead of UTC.
    #[must_use]
    pub fn ahead_ms(self, moment: Timestamp) -> i64 {
        let offset = self.0.offset_from_utc_datetime(&utc(moment).naive_utc());
        i64::from(offset.fix().local_minus_utc()) * 1000
    }

    /// Returns the local date at this time, as days since 1970-01-01.
    #[must_use]
    pub fn day(self, moment: Timestamp) -> i64 {
        moment
            .micros()
            .saturating_add(self.ahead_ms(moment).saturating_mul(1000))
            .div_euclid(86_400_000_000)
    }

    /// Returns the time at which the day begins in this zone: midnight or, if clocks skip midnight, the time at which
    /// they are set forward.
    #[must_use]
    pub fn day_begin(self, day: i64) -> Timestamp {
        let date = NaiveDate::default();
        let date = match u64::try_from(day) {
            Ok(days) => date.checked_add_days(Days::new(days)),
            Err(_) => date.checked_sub_days(Days::new(day.unsigned_abs())),
        };
        // The day is outside the calendar's range, so that the timestamp is clamped.
        let Some(date) = date else {
            return Timestamp::from_micros(day.saturating_mul(86_400_000_000));
        };
        let midnight = date.and_time(NaiveTime::MIN);
        let candidates = (0..=GAP_STEPS_MAX).map(|step| midnight + GAP_STEP * step);
        let mut found = candidates.filter_map(|local| self.0.from_local_datetime(&local).earliest());
        found.next().map_or(
            Timestamp::from_micros(day.saturating_mul(86_400_000_000)),
            |begin: DateTime<Tz>| Timestamp::from_micros(begin.timestamp_micros()),
        )
    }

    /// Returns the local date and time in this zone, for calendars.
    #[must_use]
    pub fn local(self, moment: Timestamp) -> DateTime<Tz> {
        utc(moment).with_timezone(&self.0)
    }
}

fn utc(moment: Timestamp) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(moment.micros()).unwrap_or(DateTime::UNIX_EPOCH)
}

impl fmt::Display for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for TimeZone {
    type Err = TimeZoneError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = text.parse().map(Self);
        found.map_err(|_| TimeZoneError(text.chars().take(64).collect()))
    }
}

crate::text_serde!(TimeZone);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn begin(zone: &str, day: &str) -> String {
        let zone: TimeZone = zone.parse().unwrap();
        let noon: Timestamp = format!("{day}T12:00:00Z").parse().unwrap();
        zone.day_begin(TimeZone::UTC.day(noon)).to_string()
    }

    #[test]
    fn a_country_of_one_zone_has_it_and_others_have_none() {
        assert_eq!(TimeZone::of_country("IN"), Some(TimeZone::INDIA));
        assert_eq!(TimeZone::of_country("DE").map(TimeZone::name), Some("Europe/Berlin"));
        assert_eq!(TimeZone::of_country("US"), None);
        assert_eq!(TimeZone::of_country(""), None);
    }

    #[test]
    fn a_day_begins_at_midnight_whatever_the_clocks_do_later_that_day() {
        assert_eq!(begin("Asia/Kolkata", "2026-11-23"), "2026-11-22T18:30:00Z");
        // Clocks are set forward on the first date and back on the second.
        assert_eq!(begin("Europe/Berlin", "2026-03-29"), "2026-03-28T23:00:00Z");
        assert_eq!(begin("Europe/Berlin", "2026-03-30"), "2026-03-29T22:00:00Z");
        assert_eq!(begin("Europe/Berlin", "2026-10-25"), "2026-10-24T22:00:00Z");
        assert_eq!(begin("Europe/Berlin", "2026-10-26"), "2026-10-25T23:00:00Z");
    }

    #[test]
    fn a_day_without_a_midnight_begins_when_clocks_are_set_forward() {
        assert_eq!(begin("America/Sao_Paulo", "2018-11-04"), "2018-11-04T03:00:00Z");
        // A day that a country skipped begins at the same time as the next day.
        assert_eq!(begin("Pacific/Apia", "2011-12-30"), begin("Pacific/Apia", "2011-12-31"));
    }

    #[test]
    fn what_names_no_zone_is_refused_with_examples() {
        assert_eq!(
            "IST+5:30".parse::<TimeZone>().unwrap_err().to_string(),
            "unknown time zone \"IST+5:30\": use an IANA name such as Asia/Kolkata, Europe/Berlin or UTC"
        );
    }

    proptest! {
        #[test]
        fn every_moment_lies_between_the_begin_of_its_day_and_of_the_next(
            seconds in 946_684_800_i64..4_102_444_800,
            zone in prop::sample::select(vec!["UTC", "Asia/Kolkata", "Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "Africa/Cairo"]),
        ) {
            let (zone, moment): (TimeZone, _) = (zone.parse().unwrap(), Timestamp::from_micros(seconds * 1_000_000));
            let day = zone.day(moment);
            prop_assert!(zone.day_begin(day) <= moment && moment < zone.day_begin(day + 1));
        }
    }
}
