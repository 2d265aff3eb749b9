use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use data_model::{Clock, Timestamp};

/// What a clock shows that nobody set.
pub const NOON: &str = "2026-11-21T12:00:00Z";

/// A clock that shows what it is set to.
#[derive(Debug)]
pub struct SetClock(AtomicI64);

impl SetClock {
    /// A clock that shows [`NOON`].
    #[must_use]
    pub fn noon() -> Arc<Self> {
        Self::at(NOON)
    }

    /// A clock that shows this moment (RFC 3339).
    #[must_use]
    pub fn at(moment: &str) -> Arc<Self> {
        let moment: Timestamp = moment.parse().unwrap();
        Arc::new(Self(AtomicI64::new(moment.micros())))
    }

    /// Lets so many milliseconds pass; a negative number sets it back.
    pub fn advance_ms(&self, millis: i64) {
        self.0.fetch_add(millis * 1000, Ordering::SeqCst);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}
