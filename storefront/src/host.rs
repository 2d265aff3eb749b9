use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use url::Url;

use crate::breaker::{Admission, Breaker};
use crate::config::StorefrontConfig;
use crate::error::StoreError;
use crate::line::{Line, Ticket};
use crate::pace::{Pace, PacePlace};
use crate::retry::RetryBudget;
use crate::robots::Robots;
use crate::terms::Terms;

/// Time that calls waited for their turn at a store, by priority.
pub(crate) const WAIT_METRIC: &str = "storefront_wait_seconds";

/// The host that a request goes to, and the one that the caller asked: another one, where that redirected.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hop<'h> {
    pub(crate) host: &'h Host,
    pub(crate) by: &'h Host,
}

impl<'h> Hop<'h> {
    /// To the host that the caller asked.
    pub(crate) fn to(host: &'h Host) -> Self {
        Self { host, by: host }
    }
}

/// The last word on a host's `robots.txt`.
#[derive(Debug)]
pub(crate) struct CachedRobots {
    /// `None`: it could not be read, so everything is disallowed.
    pub(crate) rules: Option<Arc<Robots>>,
    pub(crate) expires: Instant,
}

/// The state of one host and port, shared by every caller in the process.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) name: String,
    /// Held while the file is fetched, so that it is fetched once.
    pub(crate) robots: tokio::sync::Mutex<Option<CachedRobots>>,
    state: Mutex<State>,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) pace: Pace,
    /// The pace of calls in callers' names after a bot challenge: their kind is what is challenged, which says nothing of how
    /// fast anything else may be asked.
    pub(crate) challenged: Pace,
    line: Line,
    pub(crate) breaker: Breaker,
    pub(crate) budget: RetryBudget,
    /// The address to which the host said that it has moved for good, and the moment.
    pub(crate) moved: Option<(Url, Instant)>,
    pub(crate) last_used: Instant,
}

impl Host {
    pub(crate) fn new(name: String, config: &StorefrontConfig, now: Instant) -> Self {
        let state = State {
            pace: Pace::new(config, now),
            challenged: Pace::new(config, now),
            line: Line::new(config.concurrency),
            breaker: Breaker::new(config),
            budget: RetryBudget::new(config),
            moved: None,
            last_used: now,
        };
        Self {
            name,
            robots: tokio::sync::Mutex::new(None),
            state: Mutex::new(state),
        }
    }

    /// The numbers. Never held over an await; whole after a panic elsewhere, for each change is one assignment.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a turn to send one request: a slot and a place in the pace, in the order of priority. `by` is the host
    /// that the caller asked; waiting calls are woken when its breaker opens.
    ///
    /// A wait that is known to be too long is no wait: a store that wants to be left alone for longer than `hold_max` or
    /// than the caller's deadline is [`StoreError::Throttled`], a turn that comes up after it [`StoreError::Deadline`].
    pub(crate) async fn turn(&self, by: &Self, terms: Terms, hold_max: Duration) -> Result<Turn<'_>, StoreError> {
        /// While one request waits, another's answer may prolong the wait; not for ever.
        const HOLDS_MAX: usize = 4;
        let began = Instant::now();
        let waiting = HostWaiter::at(self, terms);
        let mut holds = 0;
        loop {
            by.not_refusing()?;
            let ready = match self.try_enter(&waiting.ticket, terms, hold_max)? {
                Entry::Now(taken) => {
                    let waited = began.elapsed();
                    metrics::histogram!(WAIT_METRIC, "priority" => terms.priority.as_str()).record(waited);
                    drop(waiting);
                    return Ok(Turn {
                        host: self,
                        unused: Some(taken),
                    });
                }
                Entry::At(ready) => Some(ready),
                Entry::WhenTold => None,
            };
            match ready {
                None => waiting.ticket.wake.notified().await,
                Some(ready) => {
                    tokio::select! {
                        () = sleep_until(ready) => holds += usize::from(self.state().pace.held(Instant::now()).is_some()),
                        () = waiting.ticket.wake.notified() => {}
                    }
                }
            }
            if holds == HOLDS_MAX {
                return Err(StoreError::Throttled {
                    retry_after: self.state().pace.held(Instant::now()),
                });
            }
        }
    }

    /// Takes the turn if it is this one's.
    fn try_enter(&self, ticket: &Ticket, terms: Terms, hold_max: Duration) -> Result<Entry, StoreError> {
        let now = Instant::now();
        let state = &mut *self.state();
        if let Some(wait) = state.pace.held(now)
            && (wait > hold_max || terms.is_too_late(now, wait))
        {
            return Err(StoreError::Throttled {
                retry_after: Some(wait),
            });
        }
        let ahead = state.pace.interval().saturating_mul(state.line.ahead(ticket));
        let start = state.line.start_of(ticket);
        let wait = state
            .pace
            .ready_at(now, start)
            .duration_since(now)
            .saturating_add(ahead);
        if terms.is_too_late(now, wait) {
            return Err(StoreError::Deadline { wait: Some(wait) });
        }
        if !state.line.is_first(ticket) || !state.line.has_slot() {
            return Ok(Entry::WhenTold);
        }
        Ok(match state.pace.take(now, start) {
            Ok(taken) => {
                state.line.enter(ticket);
                Entry::Now(taken)
            }
            Err(ready) => Entry::At(ready),
        })
    }

    /// Refuses a call that cannot wait until the store wants to be asked again.
    pub(crate) fn hold_allows(&self, terms: Terms) -> Result<(), StoreError> {
        let now = Instant::now();
        match self.state().pace.held(now) {
            Some(wait) if terms.is_too_late(now, wait) => Err(StoreError::Throttled {
                retry_after: Some(wait),
            }),
            _ => Ok(()),
        }
    }

    /// Refuses a call in a caller's name while a bot challenge holds such calls: it does not wait for that to pass.
    pub(crate) fn challenge_allows(&self, terms: Terms) -> Result<(), StoreError> {
        let held = terms.caller.and_then(|_| self.state().challenged.held(Instant::now()));
        held.map_or(Ok(()), |wait| {
            Err(StoreError::Throttled {
                retry_after: Some(wait),
            })
        })
    }

    /// Wakes the first call in line after a change.
    fn wake_first(&self) {
        if let Some(first) = self.state().line.first() {
            first.wake.notify_one();
        }
    }

    /// True where both are one and the same host.
    pub(crate) fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }

    /// Refuses to follow a redirect to this host while the breaker is open. The request that finds out whether the host is back
    /// is one that was meant for it.
    pub(crate) fn not_left_alone(&self) -> Result<(), StoreError> {
        match self.state().breaker.refuses(Instant::now()) {
            Some(retry_after) => Err(StoreError::BreakerOpen { retry_after }),
            None => Ok(()),
        }
    }

    /// Refuses while the breaker would let no request through.
    fn not_refusing(&self) -> Result<(), StoreError> {
        match self.state().breaker.would_refuse(Instant::now()) {
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

/// The place in line of one who waits.
enum Entry {
    /// It is its turn.
    Now(PacePlace),
    /// It is the first, and its turn comes up then.
    At(Instant),
    /// It is not the first, or nothing more may be in flight.
    WhenTold,
}

/// One who waits at a host. Dropped, it is out of the line, whether it had its turn or went away.
struct HostWaiter<'a> {
    host: &'a Host,
    ticket: Ticket,
}

impl<'a> HostWaiter<'a> {
    fn at(host: &'a Host, terms: Terms) -> Self {
        let ticket = host.state().line.join(terms.place, terms.caller);
        Self { host, ticket }
    }
}

impl Drop for HostWaiter<'_> {
    fn drop(&mut self) {
        self.host.state().line.leave(&self.ticket);
        self.host.wake_first();
    }
}

/// A turn to send one request. Its slot is free again when it is dropped, and so is its place in the pace where nothing
/// was sent.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    host: &'a Host,
    unused: Option<PacePlace>,
}

impl Turn<'_> {
    /// The request is sent now.
    pub(crate) fn used(&mut self) {
        self.unused = None;
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        {
            let mut state = self.host.state();
            state.line.exit();
            if let Some(taken) = self.unused.take() {
                state.pace.give_back(taken);
            }
        }
        self.host.wake_first();
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
            // The next caller gets an error.
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
