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

/// Metric of the time that calls waited for their turn at a store, by priority.
pub(crate) const WAIT_METRIC: &str = "storefront_wait_seconds";

/// The host that receives a request, and the host that the caller requested. The two hosts differ after a redirect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hop<'h> {
    pub(crate) host: &'h Host,
    pub(crate) by: &'h Host,
}

impl<'h> Hop<'h> {
    pub(crate) fn to(host: &'h Host) -> Self {
        Self { host, by: host }
    }
}

/// Latest result of reading a host's `robots.txt`.
#[derive(Debug)]
pub(crate) struct CachedRobots {
    /// Rules of the file. `None` if the file could not be read, so that everything is disallowed.
    pub(crate) rules: Option<Arc<Robots>>,
    pub(crate) expires: Instant,
}

/// State of one host and port, which all callers in the process share.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) name: String,
    /// The lock lasts while `robots.txt` is fetched, so that one fetch serves all.
    pub(crate) robots: tokio::sync::Mutex<Option<CachedRobots>>,
    state: Mutex<State>,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) pace: Pace,
    /// Rate limiter for calls on behalf of single callers after a bot challenge. The challenge concerns only calls of
    /// this kind, so that other calls keep their rate.
    pub(crate) challenged: Pace,
    line: Line,
    breaker: Breaker,
    /// Circuit breaker for calls on behalf of single callers. An error of the store in response to such a call concerns
    /// only calls of this kind, because the caller's cart may be its cause.
    callers: Breaker,
    pub(crate) budget: RetryBudget,
    /// Address to which the host has moved permanently, and the time of that redirect.
    pub(crate) moved: Option<(Url, Instant)>,
    /// Further host of the store, without `www.`, and the time at which the store stated that: see [`crate::home`].
    pub(crate) home: Option<(String, Instant)>,
    pub(crate) last_used: Instant,
}

impl Host {
    pub(crate) fn new(name: String, config: &StorefrontConfig, now: Instant) -> Self {
        let state = State {
            pace: Pace::new(config, now),
            challenged: Pace::new(config, now),
            line: Line::new(config.concurrency),
            breaker: Breaker::new(config),
            callers: Breaker::new(config),
            budget: RetryBudget::new(config),
            moved: None,
            home: None,
            last_used: now,
        };
        Self {
            name,
            robots: tokio::sync::Mutex::new(None),
            state: Mutex::new(state),
        }
    }

    /// The lock never lasts over an await. The state stays consistent after a panic elsewhere, because each change is a
    /// single assignment.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a turn to send one request, in the order of priority. A turn needs a free connection slot and a slot
    /// of the rate limiter. `by` is the host that the caller requested. Waiting calls wake when the circuit breaker of
    /// that host opens.
    ///
    /// Fails immediately if the wait is known to be too long: with [`StoreError::Throttled`] if the store requests a
    /// wait beyond `hold_max` or the caller's deadline, and with [`StoreError::Deadline`] if the turn would come after
    /// the deadline.
    pub(crate) async fn turn(&self, by: &Self, terms: Terms, hold_max: Duration) -> Result<Turn<'_>, StoreError> {
        /// Limit of how often the answers to other requests may prolong the wait of this request.
        const HOLDS_MAX: usize = 4;
        let began = Instant::now();
        let waiting = HostWaiter::at(self, terms);
        let mut holds = 0;
        loop {
            by.not_refusing(terms)?;
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

    /// Refuses a call whose deadline is before the end of the wait that the store requested.
    pub(crate) fn hold_allows(&self, terms: Terms) -> Result<(), StoreError> {
        let now = Instant::now();
        match self.state().pace.held(now) {
            Some(wait) if terms.is_too_late(now, wait) => Err(StoreError::Throttled {
                retry_after: Some(wait),
            }),
            _ => Ok(()),
        }
    }

    /// Refuses a call on behalf of a single caller while a bot challenge holds back such calls.
    pub(crate) fn challenge_allows(&self, terms: Terms) -> Result<(), StoreError> {
        let held = terms.caller.and_then(|_| self.state().challenged.held(Instant::now()));
        held.map_or(Ok(()), |wait| {
            Err(StoreError::Throttled {
                retry_after: Some(wait),
            })
        })
    }

    fn wake_first(&self) {
        if let Some(first) = self.state().line.first() {
            first.wake.notify_one();
        }
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }

    /// Refuses to follow a redirect to this host while its breaker is open. Only a request made directly to this host
    /// may be the trial.
    pub(crate) fn not_left_alone(&self, terms: Terms) -> Result<(), StoreError> {
        let (now, mut state) = (Instant::now(), self.state());
        let mut kinds = BreakerKind::of(terms);
        match kinds.find_map(|kind| state.breaker(kind).refuses(now)) {
            Some(retry_after) => Err(StoreError::BreakerOpen { retry_after }),
            None => Ok(()),
        }
    }

    fn not_refusing(&self, terms: Terms) -> Result<(), StoreError> {
        let (now, mut state) = (Instant::now(), self.state());
        let mut kinds = BreakerKind::of(terms);
        match kinds.find_map(|kind| state.breaker(kind).would_refuse(now)) {
            Some(retry_after) => Err(StoreError::BreakerOpen { retry_after }),
            None => Ok(()),
        }
    }

    /// The caller reports the outcome of the request through the passes.
    pub(crate) fn admit(&self, terms: Terms) -> Result<Passes<'_>, StoreError> {
        let pass = |kind| {
            let admitted = self.state().breaker(kind).admit(Instant::now());
            let pass = |admission| Pass {
                host: self,
                kind,
                is_trial: admission == Admission::Trial,
            };
            let refused = |retry_after| StoreError::BreakerOpen { retry_after };
            admitted.map(pass).map_err(refused)
        };
        Ok(Passes {
            all: pass(BreakerKind::All)?,
            callers: terms.caller.map(|_| pass(BreakerKind::OfCallers)).transpose()?,
        })
    }
}

/// Calls that a circuit breaker refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BreakerKind {
    All,
    OfCallers,
}

impl BreakerKind {
    fn of(terms: Terms) -> impl Iterator<Item = Self> {
        [Self::All].into_iter().chain(terms.caller.map(|_| Self::OfCallers))
    }
}

impl State {
    const fn breaker(&mut self, kind: BreakerKind) -> &mut Breaker {
        match kind {
            BreakerKind::All => &mut self.breaker,
            BreakerKind::OfCallers => &mut self.callers,
        }
    }

    /// True if calls like this one are refused now.
    pub(crate) fn refuses(&mut self, terms: Terms) -> bool {
        let now = Instant::now();
        BreakerKind::of(terms).any(|kind| self.breaker(kind).is_open(now))
    }
}

/// Position of a waiting call in the queue.
enum Entry {
    Now(PacePlace),
    /// The call is first in the queue and may be sent at this time.
    At(Instant),
    /// The call is not first in the queue, or no slot is free.
    WhenTold,
}

/// A call that waits at a host. Dropping it leaves the queue, even without a turn.
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

/// A turn to send one request. Dropping the turn frees its connection slot and, if no request was sent, the slot of the
/// rate limiter.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    host: &'a Host,
    unused: Option<PacePlace>,
}

impl Turn<'_> {
    /// Marks the turn as used, because the request is sent now.
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

/// Permission to send one request, by the circuit breakers of its kinds of calls.
#[derive(Debug)]
pub(crate) struct Passes<'a> {
    all: Pass<'a>,
    /// Set for a call on behalf of a single caller.
    callers: Option<Pass<'a>>,
}

/// Permission by one circuit breaker. Dropping it without an outcome returns a trial to the breaker.
#[derive(Debug)]
struct Pass<'a> {
    host: &'a Host,
    kind: BreakerKind,
    is_trial: bool,
}

impl Passes<'_> {
    pub(crate) fn succeeded(self) {
        self.all.succeeded();
        if let Some(callers) = self.callers {
            callers.succeeded();
        }
    }

    /// The store did not answer.
    pub(crate) fn failed(self) {
        self.all.failed();
    }

    /// The store answered with an error of its own.
    pub(crate) fn answered_with_error(self) {
        self.callers.unwrap_or(self.all).failed();
    }
}

impl Pass<'_> {
    fn succeeded(mut self) {
        self.is_trial = false;
        self.host.state().breaker(self.kind).succeeded();
    }

    fn failed(mut self) {
        self.is_trial = false;
        if self.host.state().breaker(self.kind).failed(Instant::now()) {
            // The info level suffices, because the next caller gets an error.
            let kind = self.kind;
            tracing::info!(host = %self.host.name, ?kind, "the store failed repeatedly; requests to it are paused");
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.is_trial {
            self.host.state().breaker(self.kind).trial_abandoned(Instant::now());
        }
    }
}
