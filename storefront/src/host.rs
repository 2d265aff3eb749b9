use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until};
use url::Url;

use crate::breaker::{Admission, Breaker};
use crate::config::StorefrontConfig;
use crate::error::StoreError;
use crate::pace::Pace;
use crate::retry::RetryBudget;
use crate::robots_cache::CachedRobots;

/// What is known about one host and port, shared by every caller in the process.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) name: String,
    /// Places for requests in flight.
    pub(crate) slots: Semaphore,
    /// Held while the file is fetched, so that it is fetched once.
    pub(crate) robots: tokio::sync::Mutex<Option<CachedRobots>>,
    state: Mutex<State>,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) pace: Pace,
    pub(crate) breaker: Breaker,
    pub(crate) budget: RetryBudget,
    /// Where the host said it has moved for good, and when.
    pub(crate) moved: Option<(Url, Instant)>,
    pub(crate) last_used: Instant,
}

impl Host {
    pub(crate) fn new(name: String, config: &StorefrontConfig, now: Instant) -> Self {
        let state = State {
            pace: Pace::new(config, now),
            breaker: Breaker::new(config),
            budget: RetryBudget::new(config),
            moved: None,
            last_used: now,
        };
        Self {
            name,
            slots: Semaphore::new(config.concurrency),
            robots: tokio::sync::Mutex::new(None),
            state: Mutex::new(state),
        }
    }

    /// The numbers. Never held over an await; whole after a panic elsewhere, for each change is one assignment.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the next request may start. A store that wants to be left alone for longer than `hold_max` is
    /// reported at once instead.
    pub(crate) async fn turn(&self, hold_max: Duration) -> Result<(), StoreError> {
        /// While one request waits, another's answer may prolong the wait; not for ever.
        const HOLDS_MAX: usize = 4;
        for hold in 0..HOLDS_MAX {
            let now = Instant::now();
            let wait = {
                let mut state = self.state();
                if let Some(wait) = state.pace.held(now).filter(|wait| *wait > hold_max) {
                    return Err(StoreError::Throttled {
                        retry_after: Some(wait),
                    });
                }
                if hold > 0 && state.pace.held(now).is_none() {
                    return Ok(());
                }
                state.pace.reserve(now)
            };
            match wait {
                Some(start) => sleep_until(start).await,
                None => return Ok(()),
            }
        }
        Err(StoreError::Throttled {
            retry_after: self.state().pace.held(Instant::now()),
        })
    }

    /// Whether both are one and the same host.
    pub(crate) fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }

    /// Whether a store that redirects here may be followed: not while the breaker is open. The request that finds out
    /// whether the host is back is one that was meant for it.
    pub(crate) fn not_left_alone(&self) -> Result<(), StoreError> {
        match self.state().breaker.refuses(Instant::now()) {
            Some(retry_after) => Err(StoreError::BreakerOpen { retry_after }),
            None => Ok(()),
        }
    }

    /// Asks the breaker; the answer must be reported back through the pass.
    pub(crate) fn admit(&self) -> Result<Pass<'_>, StoreError> {
        let admitted = self.state().breaker.admit(Instant::now());
        match admitted {
            Ok(admission) => Ok(Pass {
                host: self,
                is_trial: admission == Admission::Trial,
            }),
            Err(retry_after) => Err(StoreError::BreakerOpen { retry_after }),
        }
    }
}

/// Leave to send one request. Dropped without an outcome (the caller went away), it gives a trial back.
#[derive(Debug)]
pub(crate) struct Pass<'a> {
    host: &'a Host,
    is_trial: bool,
}

impl Pass<'_> {
    pub(crate) fn succeeded(mut self) {
        self.is_trial = false;
        self.host.state().breaker.succeeded();
    }

    pub(crate) fn failed(mut self) {
        self.is_trial = false;
        if self.host.state().breaker.failed(Instant::now()) {
            // Whoever asks next is told by an error.
            tracing::info!(host = %self.host.name, "the store failed repeatedly and is left alone");
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.is_trial {
            self.host.state().breaker.trial_abandoned(Instant::now());
        }
    }
}
