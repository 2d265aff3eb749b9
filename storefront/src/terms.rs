use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use tokio::time::Instant;

/// Effect of a call at the store. It determines what happens when the call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// The call only reads. Retries are within the budget.
    Safe,
    /// The call writes, with the same effect if made twice. It is retried.
    Idempotent,
    /// The call must not be made twice. It is never retried, and follows a redirect only to the same path at the
    /// store's own host. Without a response, the call ends with [`crate::StoreError::OutcomeUnknown`].
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CallerTag(u64);

impl CallerTag {
    pub(crate) fn of(caller: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        caller.hash(&mut hasher);
        Self(hasher.finish())
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) effect: Effect,
    /// Priority of whoever waits for the answer.
    pub(crate) priority: Priority,
    /// Priority in the queue.
    pub(crate) place: Priority,
    /// Caller who takes turns with other callers. `None` if the call is for all callers.
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

    /// Returns the terms for fetching `robots.txt`, which goes first because every other call to the host waits for it.
    pub(crate) const fn of_robots(self) -> Self {
        Self {
            effect: Effect::Safe,
            place: Priority::Interactive,
            caller: None,
            ..self
        }
    }

    pub(crate) fn is_too_late(&self, now: Instant, wait: Duration) -> bool {
        self.deadline
            .is_some_and(|deadline| deadline.saturating_duration_since(now) <= wait)
    }
}
