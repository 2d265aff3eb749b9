use std::fmt;

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use data_model::{TimeZone, Timestamp};

/// The moments at which something is due: a cron expression of five fields, read by the clocks of a time zone.
///
/// An expression of one time of day comes true once on each of its days: where clocks are set forward and skip it, when they
/// are set; where they are set back and show it twice, the first time. Any other comes true whenever clocks show what it
/// says, so that `*/15 * * * *` goes on by the time that passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    cron: Cron,
    zone: TimeZone,
}

/// A due moment of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueRun {
    /// The latest moment.
    pub at: Timestamp,
    /// The number of moments before it that were due too.
    pub missed: u32,
}

/// A text that is no cron expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no cron expression (minute, hour, day of the month, month, day of the week): {why}")]
pub struct ScheduleError {
    text: String,
    why: String,
}

/// The number of missed moments that are counted one by one.
const MISSED_COUNTED_MAX: u32 = 10_000;

impl Schedule {
    /// Reads `20 3 * * 1-5`, `*/15 * * * *` or `@daily`.
    ///
    /// # Errors
    /// [`ScheduleError`]; also for an expression that never comes true, such as the 30th of February.
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
            None => Err(refused("no day is like that".to_owned())),
        }
    }

    /// The first moment after this one.
    #[must_use]
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let from = self.zone.local(whole_seconds(after));
        let next = self.cron.find_next_occurrence(&from, false).ok()?;
        Some(Timestamp::from_micros(next.timestamp_micros()))
    }

    /// The due moment at `now`, when all up to and with `accounted_to` is accounted for.
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

/// Cron knows whole seconds.
fn whole_seconds(moment: Timestamp) -> Timestamp {
    Timestamp::from_micros(moment.micros().div_euclid(1_000_000) * 1_000_000)
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.cron.as_str(), self.zone)
    }
}
