//! Public holidays of countries. Holidays on fixed dates are built in. The operator supplies those that depend on the
//! moon.

use std::collections::BTreeSet;

use data_model::{TimeZone, Timestamp};

const LINES_MAX: usize = 10_000;

/// Holidays from an operator's file, in addition to those on fixed dates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Holidays(BTreeSet<([u8; 2], i64)>);

/// Error for a line that is not a valid holiday.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is not a holiday: write the country, a tab, and the date, such as IN and 2026-11-08")]
pub struct HolidaysError {
    /// Line number, starting at 1.
    pub line: usize,
}

impl Holidays {
    /// Parses a holiday file. A line has the ISO 3166 code of the country, a tab, the date, and optionally another tab
    /// and a name. `#` starts a comment.
    ///
    /// # Errors
    /// The first invalid line.
    pub fn read(file: &str) -> Result<Self, HolidaysError> {
        let mut days = BTreeSet::new();
        for (line, text) in (1..).zip(file.lines()) {
            let text = text.trim_end();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let day = (line <= LINES_MAX).then(|| holiday(text)).flatten();
            days.insert(day.ok_or(HolidaysError { line })?);
        }
        Ok(Self(days))
    }

    /// True if `day` is a holiday of the country. Days count from 1970-01-01.
    pub(crate) fn has(&self, country: &str, day: i64) -> bool {
        <[u8; 2]>::try_from(country.as_bytes()).is_ok_and(|country| self.0.contains(&(country, day)))
    }

    pub(crate) fn bytes(&self) -> impl Iterator<Item = [u8; 10]> {
        self.0.iter().map(|(country, day)| {
            let mut bytes = [0; 10];
            bytes[..2].copy_from_slice(country);
            bytes[2..].copy_from_slice(&day.to_le_bytes());
            bytes
        })
    }
}

fn holiday(text: &str) -> Option<([u8; 2], i64)> {
    let mut fields = text.split('\t');
    let (country, date) = (fields.next()?, fields.next()?);
    let country = <[u8; 2]>::try_from(country.as_bytes()).ok()?;
    let midnight: Timestamp = format!("{date}T00:00:00Z").parse().ok()?;
    let is_code = country.iter().all(u8::is_ascii_uppercase);
    (is_code && date.len() == 10).then(|| (country, TimeZone::UTC.day(midnight)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_days_by_country() {
        let holidays = Holidays::read("# movable\nIN\t2026-11-08\tDiwali\n\nDE\t2026-04-03\n").unwrap();
        let day = |date: &str| TimeZone::UTC.day(format!("{date}T00:00:00Z").parse().unwrap());
        assert!(holidays.has("IN", day("2026-11-08")));
        assert!(!holidays.has("DE", day("2026-11-08")));
        assert!(holidays.has("DE", day("2026-04-03")));
        assert!(!holidays.has("Germany", day("2026-04-03")));
    }

    #[test]
    fn a_line_that_is_no_holiday_is_named() {
        for (file, line) in [
            ("IN\t2026-02-30\n", 1),
            ("# a remark\nIN 2026-11-08\n", 2),
            ("in\t2026-11-08\n", 1),
            ("IN\t2026-11-8\n", 1),
            ("IND\t2026-11-08\n", 1),
        ] {
            assert_eq!(Holidays::read(file), Err(HolidaysError { line }), "{file:?}");
        }
    }
}
