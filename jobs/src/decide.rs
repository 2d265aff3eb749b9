use data_model::Timestamp;
use state::{JobCause, JobRow, JobWork};

use crate::schedule::Schedule;

/// The rules by which a job is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// When.
    pub schedule: Schedule,
    /// True where the schedule counts; a job that is triggered runs anyway.
    pub enabled: bool,
    /// The number of times that a failed run is tried again.
    pub retries: u32,
    /// The pause before the first of these; it doubles with each.
    pub retry_pause_ms: i64,
}

/// The action for a job now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// No step is due.
    Wait,
    /// A run is to begin.
    Begin {
        /// The cause of the run.
        cause: JobCause,
        /// The moment that it stands for.
        scheduled_at: Timestamp,
        /// The number of earlier moments that it stands for too.
        missed: u32,
        /// The number of the try.
        attempt: u32,
        /// Up to where the schedule is accounted for with it.
        accounted_to: Timestamp,
    },
    /// Whoever ran it is gone: the run is lost, and due again at this moment.
    Lose {
        /// `None`: only with its next moment.
        retry_at: Option<Timestamp>,
    },
    /// The schedule was accounted for by a clock that was far ahead: it counts from this moment on.
    Rewind {
        /// The moment.
        to: Timestamp,
    },
}

/// The longest pause before a run is tried again.
const RETRY_PAUSE_MAX_MS: i64 = 3_600_000;
/// A run that begins so much later than it was due catches something up.
const LATE_MS: i64 = 60_000;
/// A clock that is set by hand is off by hours; one that is more than a day behind what was accounted for is right, and
/// the one before was wrong.
const AHEAD_MAX_MS: i64 = 25 * 3_600_000;

/// The action for a job in this state; `is_dead`: the process that runs it is gone.
#[must_use]
pub fn decide(row: &JobRow, policy: &Policy, now: Timestamp, is_dead: bool) -> Decision {
    match row.work {
        JobWork::Held { .. } if !is_dead => return Decision::Wait,
        JobWork::Held { .. } | JobWork::Abandoned { .. } => {
            // Caught up once even where failures are not tried again; not for ever, where it is the job that kills.
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
        // A pause that is longer than any was made by a clock that was ahead.
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
    /// When a run that failed at its so-manieth try is to be tried again; `None`: not before its next moment.
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
