use std::fmt;

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use data_model::{TimeZone, Timestamp};

/// Schedule of a job: a cron expression of five fields in a time zone.
///
/// An expression with one time of day is due exactly once on each of its days. A time that is skipped when clocks go
/// forward is due at the change. A time that occurs twice when clocks go back is due the first time. Any other
/// expression is due whenever the clock shows a matching time, so `*/15 * * * *` stays at real intervals of 15 minutes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    cron: Cron,
    zone: TimeZone,
}

/// Scheduled time that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueRun {
    /// Latest scheduled time.
    pub at: Timestamp,
    /// Number of earlier scheduled times that are also due.
    pub missed: u32,
}

/// Error for a text that is not a cron expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a valid cron expression (minute, hour, day of the month, month, day of the week): {why}")]
pub struct ScheduleError {
    text: String,
    why: String,
}

/// Maximum number of missed times that are counted.
const MISSED_COUNTED_MAX: u32 = 10_000;

impl Schedule {
    /// Parses an expression such as `20 3 * * 1-5`, `*/15 * * * *` or `@daily`.
    ///
    /// # Errors
    /// Returns a [`ScheduleError`], also for an expression that never matches, such as the 30th of February.
    pub fn parse(text: &str, zone: TimeZone) -> Result<Self, ScheduleError> {
        let refused = |why: String| ScheduleError {
            text: text.chars().take(64).collect(),
            why: why.trim_end_matches('.').to_owned(),
        };
        let parser = CronParser::builder()
            .seconds(Seconds::Disallowed)
            .year(Year::Disallowed)
            .build();
        let cron = parser.parse(text).map_err(|error| refused(error.to_string()))?;
        let schedule = Self { cron, zone };
        match schedule.next(Timestamp::from_micros(0)) {
            Some(_) => Ok(schedule),
            None => Err(refused("no date matches it".to_owned())),
        }
    }

    /// Returns the first scheduled time after this time.
    #[must_use]
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let from = self.zone.local(whole_seconds(after));
        let next = self.cron.find_next_occurrence(&from, false).ok()?;
        Some(Timestamp::from_micros(next.timestamp_micros()))
    }

    /// Returns the scheduled time that is due at `now`, if all times up to and including `accounted_to` are handled.
    #[must_use]
    pub fn due(&self, accounted_to: Timestamp, now: Timestamp) -> Option<DueRun> {
        let until = self.zone.local(whole_seconds(now));
        let latest = self.cron.find_previous_occurrence(&until, true).ok()?;
        let at = Timestamp::from_micros(latest.timestamp_micros());
        if at <= accounted_to {
            return None;
        }
        let mut missed = 0;
        let mut moment = accounted_to;
        while missed < MISSED_COUNTED_MAX {
            match self.next(moment) {
                Some(next) if next < at => moment = next,
                _ => break,
            }
            missed += 1;
        }
        Some(DueRun { at, missed })
    }
}

/// Cuts a time to whole seconds, the resolution of cron.
fn whole_seconds(moment: Timestamp) -> Timestamp {
    Timestamp::from_micros(moment.micros().div_euclid(1_000_000) * 1_000_000)
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.cron.as_str(), self.zone)
    }
}
