use data_model::{TimeZone, Timestamp};
use serde::{Deserialize, Serialize};

/// Time range in which a crawl must have ended. Without bounds, it includes all landed crawls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// Start of the range, inclusive.
    pub from: Option<Timestamp>,
    /// End of the range, exclusive.
    pub until: Option<Timestamp>,
}

/// Reason why a text is not a valid time range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// The text is neither a date nor a timestamp.
    #[error("{0:?} is neither a date such as 2026-11-23 nor a time such as 2026-11-23T08:00:00Z")]
    NoDate(String),
    /// The end is before the start.
    #[error("the range ends before it begins")]
    Backwards,
}

const DAY_MICROS: i64 = 24 * 3_600_000_000;

impl Range {
    /// Creates the range from the start of day `from` to the end of day `to` in the time zone `zone`. Either may be a
    /// timestamp instead.
    pub fn new(from: Option<&str>, to: Option<&str>, zone: TimeZone) -> Result<Self, RangeError> {
        let range = Self {
            from: from.map(|text| moment(text, zone, 0)).transpose()?,
            until: to.map(|text| moment(text, zone, 1)).transpose()?,
        };
        match (range.from, range.until) {
            (Some(from), Some(until)) if until <= from => Err(RangeError::Backwards),
            _ => Ok(range),
        }
    }

    /// Returns true if the range contains this time.
    #[must_use]
    pub fn has(&self, moment: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= moment) && self.until.is_none_or(|until| moment < until)
    }
}

/// Returns the start of a day plus `days_later` days. A timestamp is returned unchanged, or as the next representable
/// time if a day would be added.
fn moment(text: &str, zone: TimeZone, days_later: i64) -> Result<Timestamp, RangeError> {
    let no_date = || RangeError::NoDate(text.chars().take(40).collect());
    if text.len() != "2026-11-23".len() {
        let moment: Timestamp = text.parse().map_err(|_| no_date())?;
        return Ok(Timestamp::from_micros(moment.micros() + days_later));
    }
    let midnight: Timestamp = format!("{text}T00:00:00Z").parse().map_err(|_| no_date())?;
    Ok(zone.day_begin(midnight.micros().div_euclid(DAY_MICROS) + days_later))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_whole_ones_by_the_markets_clocks_and_a_moment_is_itself() {
        let zone = "Europe/Berlin".parse().unwrap();
        let range = Range::new(Some("2026-03-29"), Some("2026-03-29"), zone).unwrap();
        // Daylight saving time begins, so that the day has 23 hours.
        assert_eq!(range.from.unwrap().to_string(), "2026-03-28T23:00:00Z");
        assert_eq!(range.until.unwrap().to_string(), "2026-03-29T22:00:00Z");
        let at: Timestamp = "2026-03-29T08:00:00Z".parse().unwrap();
        let range = Range::new(Some("2026-03-29T08:00:00Z"), Some("2026-03-29T08:00:00Z"), zone).unwrap();
        assert!(range.has(at) && !range.has(at.plus_millis(1)) && !range.has(at.plus_millis(-1)));
        assert!(Range::default().has(at));
    }

    #[test]
    fn what_is_no_date_and_a_range_that_ends_first_are_refused() {
        for text in ["", "yesterday", "2026-13-01", "2026-11-2x", "20261123"] {
            assert!(matches!(
                Range::new(Some(text), None, TimeZone::UTC),
                Err(RangeError::NoDate(_))
            ));
        }
        let backwards = Range::new(Some("2026-11-23"), Some("2026-11-22"), TimeZone::UTC);
        assert_eq!(backwards, Err(RangeError::Backwards));
    }
}
