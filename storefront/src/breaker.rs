use std::time::Duration;

use tokio::time::Instant;

use crate::config::StorefrontConfig;

/// Circuit breaker of a host. After consecutive failures, it refuses requests for a while, then lets one trial request
/// through.
#[derive(Debug)]
pub(crate) struct Breaker {
    state: State,
    failures_max: u32,
    cooldown_start: Duration,
    cooldown_max: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed { failures: u32 },
    Open { until: Instant, cooldown: Duration },
    HalfOpen { cooldown: Duration },
}

/// Time between two checks of the breaker during a trial. The request timeout limits the trial.
const TRIAL: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    Normal,
    /// The request tests whether the store has recovered.
    Trial,
}

impl Breaker {
    pub(crate) fn new(config: &StorefrontConfig) -> Self {
        Self {
            state: State::Closed { failures: 0 },
            failures_max: config.breaker_failures.max(1),
            cooldown_start: Duration::from_millis(config.breaker_cooldown_ms),
            cooldown_max: Duration::from_millis(config.breaker_cooldown_max_ms.max(config.breaker_cooldown_ms)),
        }
    }

    /// Lets a request through, or returns the time to wait before another attempt.
    pub(crate) fn admit(&mut self, now: Instant) -> Result<Admission, Duration> {
        match self.state {
            State::Closed { .. } => Ok(Admission::Normal),
            State::Open { until, cooldown } if until <= now => {
                self.state = State::HalfOpen { cooldown };
                Ok(Admission::Trial)
            }
            State::Open { until, .. } => Err(until.duration_since(now)),
            State::HalfOpen { .. } => Err(TRIAL),
        }
    }

    /// Returns the time for which the breaker would refuse a request now.
    pub(crate) fn would_refuse(&self, now: Instant) -> Option<Duration> {
        match self.state {
            State::Open { until, .. } if until > now => Some(until.duration_since(now)),
            State::HalfOpen { .. } => Some(TRIAL),
            State::Closed { .. } | State::Open { .. } => None,
        }
    }

    /// Returns the time for which the breaker refuses, without requesting admission.
    pub(crate) fn refuses(&self, now: Instant) -> Option<Duration> {
        match self.state {
            State::Closed { .. } => None,
            State::Open { until, .. } => Some(until.saturating_duration_since(now)),
            State::HalfOpen { .. } => Some(Duration::ZERO),
        }
        .map(|wait| wait.max(TRIAL))
    }

    pub(crate) fn is_open(&self, now: Instant) -> bool {
        matches!(self.state, State::Open { until, .. } if until > now)
    }

    pub(crate) fn succeeded(&mut self) {
        // A late success of a request sent before the breaker opened does not show that the host works now.
        if !matches!(self.state, State::Open { .. }) {
            self.state = State::Closed { failures: 0 };
        }
    }

    /// Returns true if this failure opens the breaker.
    pub(crate) fn failed(&mut self, now: Instant) -> bool {
        let cooldown = match self.state {
            State::Closed { failures } if failures + 1 < self.failures_max => {
                self.state = State::Closed { failures: failures + 1 };
                return false;
            }
            State::Closed { .. } => self.cooldown_start,
            State::HalfOpen { cooldown } => cooldown.saturating_mul(2).min(self.cooldown_max),
            State::Open { .. } => return false,
        };
        self.state = State::Open {
            until: now + cooldown,
            cooldown,
        };
        true
    }

    /// The caller of the trial went away without an outcome. The next request may be the trial.
    pub(crate) fn trial_abandoned(&mut self, now: Instant) {
        if let State::HalfOpen { cooldown } = self.state {
            self.state = State::Open { until: now, cooldown };
        }
    }
}
