use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use tokio::time::Instant;

/// Effect of a call at the store. Decides what may be done when the call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// A call that only reads. Retried within the budget.
    Safe,
    /// A call that writes, with the same effect if made twice. Retried.
    Idempotent,
    /// A call that must not be made twice. The call is never retried, and follows a redirect only to the same path at
    /// the store's own host. If there is no response, the call ends with [`crate::StoreError::OutcomeUnknown`].
    Unsafe,
}

data_model::named! {
    /// Priority of a call, by who waits for it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Priority {
        /// A crawl, which is not urgent.
        #[default]
        Crawl = "crawl",
        /// A person or a program is waiting. Interactive calls go first, and callers take turns. While a crawl waits,
        /// the crawl gets every eighth slot.
        Interactive = "interactive",
    }
}

/// Tag that distinguishes callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CallerTag(u64);

impl CallerTag {
    pub(crate) fn of(caller: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        caller.hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// Scheduling terms of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) effect: Effect,
    /// Priority of whoever waits for the answer.
    pub(crate) priority: Priority,
    /// Priority in the queue.
    pub(crate) place: Priority,
    /// Caller who takes turns with other callers; `None` if the call is made on behalf of all callers.
    pub(crate) caller: Option<CallerTag>,
    pub(crate) deadline: Option<Instant>,
}

impl Terms {
    pub(crate) const fn new(effect: Effect, priority: Priority, deadline: Option<Instant>) -> Self {
        Self {
            effect,
            priority,
            place: priority,
            caller: None,
            deadline,
        }
    }

    /// Returns the terms for fetching `robots.txt`. This request goes first, because every other call to the host waits
    /// for it.
    pub(crate) const fn of_robots(self) -> Self {
        Self {
            effect: Effect::Safe,
            place: Priority::Interactive,
            caller: None,
            ..self
        }
    }

    /// Returns true if the time after `wait` from `now` is past the deadline.
    pub(crate) fn is_too_late(&self, now: Instant, wait: Duration) -> bool {
        self.deadline
            .is_some_and(|deadline| deadline.saturating_duration_since(now) <= wait)
    }
}
