use data_model::Timestamp;
use state::{JobCause, JobRow, JobWork};

use crate::schedule::Schedule;

/// Rules for running a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Schedule of the job.
    pub schedule: Schedule,
    /// True if the schedule is enabled; a triggered job runs in any case.
    pub enabled: bool,
    /// Maximum number of retries of a failed run.
    pub retries: u32,
    /// Pause in milliseconds before the first retry; it doubles with each retry.
    pub retry_pause_ms: i64,
}

/// Action to take for a job now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Do nothing.
    Wait,
    /// Start a run.
    Begin {
        /// Cause of the run.
        cause: JobCause,
        /// Latest scheduled time that the run covers.
        scheduled_at: Timestamp,
        /// Number of earlier missed times that the run also covers.
        missed: u32,
        /// Number of the attempt, starting at 1.
        attempt: u32,
        /// Time up to which the schedule is handled by this run.
        accounted_to: Timestamp,
    },
    /// Mark the run as lost because its process is dead.
    Lose {
        /// Time of the retry; `None` waits for the next scheduled time.
        retry_at: Option<Timestamp>,
    },
    /// Reset the schedule to a given time, because a clock far ahead had advanced it.
    Rewind {
        /// Time from which the schedule counts again.
        to: Timestamp,
    },
}

/// Maximum pause in milliseconds before a retry.
const RETRY_PAUSE_MAX_MS: i64 = 3_600_000;
/// Delay in milliseconds after which a run counts as the catch-up of a missed time.
const LATE_MS: i64 = 60_000;
/// Maximum time in milliseconds by which the schedule may be ahead of the clock. A clock that was set by hand is wrong
/// by some hours. If it is more than a day behind, the earlier clock was wrong.
const AHEAD_MAX_MS: i64 = 25 * 3_600_000;

/// Returns the action for a job in this state. `is_dead` is true if the process that ran the job is dead.
#[must_use]
pub fn decide(row: &JobRow, policy: &Policy, now: Timestamp, is_dead: bool) -> Decision {
    match row.work {
        JobWork::Held { .. } if !is_dead => return Decision::Wait,
        JobWork::Held { .. } | JobWork::Abandoned { .. } => {
            // A lost run is retried once even without retries, but not for ever, because the job itself may kill the
            // process.
            let again = row.attempt <= policy.retries.max(1);
            let retry_at = again.then_some(now);
            return Decision::Lose { retry_at };
        }
        JobWork::Idle => {}
    }
    if let Some(asked) = &row.triggered {
        return Decision::Begin {
            cause: JobCause::Trigger,
            scheduled_at: asked.at,
            missed: 0,
            attempt: 1,
            accounted_to: row.accounted_to,
        };
    }
    if row.paused.is_some() || !policy.enabled {
        return Decision::Wait;
    }
    if row.accounted_to > now.plus_millis(AHEAD_MAX_MS) {
        return Decision::Rewind { to: now };
    }
    if let Some(due) = policy.schedule.due(row.accounted_to, now) {
        let is_late = due.missed > 0 || now.millis_since(due.at) > LATE_MS;
        return Decision::Begin {
            cause: if is_late { JobCause::CatchUp } else { JobCause::Schedule },
            scheduled_at: due.at,
            missed: due.missed,
            attempt: 1,
            accounted_to: due.at,
        };
    }
    match row.retry_at {
        // A pause above the maximum comes from a clock that was ahead.
        Some(at) if at <= now || at > now.plus_millis(RETRY_PAUSE_MAX_MS) => Decision::Begin {
            cause: JobCause::Retry,
            scheduled_at: row.accounted_to,
            missed: 0,
            attempt: row.attempt.saturating_add(1),
            accounted_to: row.accounted_to,
        },
        _ => Decision::Wait,
    }
}

impl Policy {
    /// Returns the time of the retry after this failed attempt. Returns `None` if the job waits for its next scheduled
    /// time.
    #[must_use]
    pub fn retry_at(&self, attempt: u32, now: Timestamp) -> Option<Timestamp> {
        if attempt > self.retries {
            return None;
        }
        let doublings = attempt.saturating_sub(1).min(20);
        let pause_ms = self.retry_pause_ms.max(0).saturating_mul(1 << doublings);
        Some(now.plus_millis(pause_ms.min(RETRY_PAUSE_MAX_MS)))
    }
}
