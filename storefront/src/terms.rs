use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use tokio::time::Instant;

/// The effect of a call at the store, which decides what may be done when it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Reads. Retried within the budget.
    Safe,
    /// Writes, but twice is as once. Retried.
    Idempotent,
    /// Never retried; sent on by a redirect only to where the store lives, at the same path. Sent and not answered:
    /// [`crate::StoreError::OutcomeUnknown`].
    Unsafe,
}

/// The one who waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Priority {
    /// A crawl, which has time.
    #[default]
    Crawl,
    /// A person or a program at the other end. Goes first, callers in turn; of its calls that follow each other while a crawl waits, every
    /// eighth place is the crawl's.
    Interactive,
}

impl Priority {
    /// As metrics label it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Crawl => "crawl",
            Self::Interactive => "interactive",
        }
    }
}

/// The mark that distinguishes callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CallerTag(u64);

impl CallerTag {
    pub(crate) fn of(caller: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        caller.hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// The terms of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) effect: Effect,
    /// The one who waits for the answer.
    pub(crate) priority: Priority,
    /// The priority of its turn.
    pub(crate) place: Priority,
    /// The caller whose other calls it takes turns with; `None`: it is for all of them.
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

    /// Those of `robots.txt`, which a call needs beforehand and every other one of the host waits for: it goes first.
    pub(crate) const fn of_robots(self) -> Self {
        Self {
            effect: Effect::Safe,
            place: Priority::Interactive,
            caller: None,
            ..self
        }
    }

    /// True where what happens after a `wait` from `now` happens too late.
    pub(crate) fn is_too_late(&self, now: Instant, wait: Duration) -> bool {
        self.deadline
            .is_some_and(|deadline| deadline.saturating_duration_since(now) <= wait)
    }
}
