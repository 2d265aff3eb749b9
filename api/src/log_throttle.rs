//! Throttle for log messages that every request would repeat.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time after which a message is logged again.
const PAUSE: Duration = Duration::from_secs(60);

/// Logs a message immediately, and then at most once a minute while its cause continues.
#[derive(Debug, Default)]
pub struct LogThrottle {
    said: Mutex<LastLog>,
}

#[derive(Debug, Default)]
struct LastLog {
    at: Option<Instant>,
    /// Number of messages that were suppressed since the last logged one.
    left_out: u64,
}

impl LogThrottle {
    /// Creates a throttle that has not let any message through yet.
    #[must_use]
    pub const fn new() -> Self {
        let (at, left_out) = (None, 0);
        Self {
            said: Mutex::new(LastLog { at, left_out }),
        }
    }

    /// Returns the number of suppressed messages, if a message should be logged now.
    #[must_use]
    pub fn is_due(&self) -> Option<u64> {
        self.is_due_at(Instant::now())
    }

    fn is_due_at(&self, now: Instant) -> Option<u64> {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.at.is_some_and(|at| now.saturating_duration_since(at) < PAUSE) {
            said.left_out = said.left_out.saturating_add(1);
            return None;
        }
        said.at = Some(now);
        Some(std::mem::take(&mut said.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_at_once_and_then_once_a_minute_with_how_often_it_was_not() {
        let (seldom, begin) = (LogThrottle::new(), Instant::now());
        let after = |seconds| seldom.is_due_at(begin + Duration::from_secs(seconds));
        assert_eq!(after(0), Some(0));
        for second in 1..60 {
            assert_eq!(after(second), None);
        }
        assert_eq!(after(60), Some(59));
        assert_eq!(after(61), None);
        assert_eq!(after(500), Some(1));
    }
}
