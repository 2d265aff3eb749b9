use std::time::Duration;

use data_model::Timestamp;
use serde::{Deserialize, Serialize};

/// Settings of workers that take stores from the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueConfig {
    /// Seconds without a renewal after which other workers get a worker's stores. Workers renew three times per period,
    /// and stop querying a store when a fifth of the period is left. The clocks of machines that share a queue must not
    /// differ by more than that.
    pub lease_s: u64,
    /// Maximum number of attempts for a store before it becomes a dead letter.
    pub attempts_max: u32,
    /// Pause in seconds before the first retry of a failed store. The pause doubles with each attempt, up to an hour.
    pub retry_pause_s: u64,
    /// Interval in milliseconds at which an idle worker looks for stores.
    pub poll_ms: u64,
    /// Maximum age in seconds of a worker's lake snapshot while it works on one run.
    pub snapshot_age_s_max: u64,
    /// Maximum time in seconds for which a finished store waits to be committed with others; 0 means that stores do not
    /// wait.
    pub commit_wait_s: u64,
    /// Address of the listener for probes and metrics of `haat worker`; empty for none.
    pub ops_listen: String,
    /// True to let the job `refresh-catalogue` put due brands into the queue instead of crawling them itself.
    pub refresh_catalogue: bool,
}

/// Error for a setting outside of its range.
#[derive(Debug, thiserror::Error)]
#[error("queue.{key} must be from {min} to {max}")]
pub struct QueueConfigError {
    key: &'static str,
    min: u64,
    max: u64,
}

impl Default for QueueConfig {
    fn default() -> Self {
        Self {
            lease_s: 60,
            attempts_max: 3,
            retry_pause_s: 60,
            poll_ms: 1_000,
            snapshot_age_s_max: 600,
            commit_wait_s: 30,
            ops_listen: String::new(),
            refresh_catalogue: false,
        }
    }
}

/// Maximum pause in seconds between two attempts.
const PAUSE_S_MAX: u64 = 3_600;

impl QueueConfig {
    /// Checks the configuration.
    ///
    /// # Errors
    /// [`QueueConfigError`], which names the key.
    pub fn check(&self) -> Result<(), QueueConfigError> {
        let within = |key, value, (min, max)| {
            let is_within = (min..=max).contains(&value);
            is_within.then_some(()).ok_or(QueueConfigError { key, min, max })
        };
        within("lease_s", self.lease_s, (2, u64::from(state::WORK_LEASE_S_MAX)))?;
        within("attempts_max", u64::from(self.attempts_max), (1, 1_000))?;
        within("retry_pause_s", self.retry_pause_s, (0, PAUSE_S_MAX))?;
        within("poll_ms", self.poll_ms, (10, 600_000))?;
        within("snapshot_age_s_max", self.snapshot_age_s_max, (1, 86_400))?;
        within("commit_wait_s", self.commit_wait_s, (0, 3_600))
    }

    pub(super) const fn lease(&self) -> Duration {
        Duration::from_secs(self.lease_s)
    }

    /// Returns the time after the request for which a holder trusts its lease. The rest is a margin for clock
    /// differences and network delay.
    pub(super) fn trusted(&self) -> Duration {
        self.lease() * 4 / 5
    }

    pub(super) fn renew_every(&self) -> Duration {
        self.lease() / 3
    }

    pub(super) const fn commit_wait(&self) -> Duration {
        Duration::from_secs(self.commit_wait_s)
    }

    pub(super) const fn poll(&self) -> Duration {
        Duration::from_millis(self.poll_ms)
    }

    /// Returns the time of the next attempt after this failed attempt, or `None` if there is none.
    pub(super) fn retry_at(&self, attempt: u32, now: Timestamp) -> Option<Timestamp> {
        if attempt >= self.attempts_max {
            return None;
        }
        let doubled = 1_u64.checked_shl(attempt.saturating_sub(1)).unwrap_or(u64::MAX);
        let pause_s = self.retry_pause_s.saturating_mul(doubled).min(PAUSE_S_MAX);
        Some(now.plus_millis(i64::try_from(pause_s * 1_000).unwrap_or(i64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_an_hour_and_end() {
        let config = QueueConfig {
            attempts_max: 9,
            ..QueueConfig::default()
        };
        let now = Timestamp::from_micros(0);
        let pauses: Vec<_> = (1..=9)
            .map(|attempt| config.retry_at(attempt, now).map(|at| at.millis_since(now) / 1_000))
            .collect();
        assert_eq!(
            pauses,
            [60, 120, 240, 480, 960, 1_920, 3_600, 3_600]
                .map(Some)
                .into_iter()
                .chain([None])
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn what_cannot_hold_is_named() {
        config_is_refused(
            QueueConfig {
                lease_s: 1,
                ..QueueConfig::default()
            },
            "queue.lease_s must be from 2 to 86400",
        );
        config_is_refused(
            QueueConfig {
                attempts_max: 0,
                ..QueueConfig::default()
            },
            "queue.attempts_max must be from 1 to 1000",
        );
        QueueConfig::default().check().unwrap();
    }

    fn config_is_refused(config: QueueConfig, why: &str) {
        assert_eq!(config.check().unwrap_err().to_string(), why);
    }
}
