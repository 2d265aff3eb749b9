use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use data_model::{Clock, Timestamp};

/// Default time of a test clock.
pub const NOON: &str = "2026-11-21T12:00:00Z";

/// A clock that shows the time it is set to.
#[derive(Debug)]
pub struct SetClock(AtomicI64);

impl SetClock {
    /// Creates a clock that shows [`NOON`].
    #[must_use]
    pub fn noon() -> Arc<Self> {
        Self::at(NOON)
    }

    /// Creates a clock that shows this time (RFC 3339).
    #[must_use]
    pub fn at(moment: &str) -> Arc<Self> {
        let moment: Timestamp = moment.parse().unwrap();
        Arc::new(Self(AtomicI64::new(moment.micros())))
    }

    /// Moves the clock forward by this number of milliseconds; a negative number moves it back.
    pub fn advance_ms(&self, millis: i64) {
        self.0.fetch_add(millis * 1000, Ordering::SeqCst);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

/// System clock plus an offset that a test sets, for times that are compared with the storage's timestamps of objects.
#[derive(Debug, Default)]
pub struct ShiftedClock(AtomicI64);

impl ShiftedClock {
    /// Creates a clock that shows the system's time.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Increases the offset by this number of milliseconds; a negative number decreases it.
    pub fn advance_ms(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for ShiftedClock {
    #[expect(clippy::disallowed_methods, reason = "objects carry the time of the system's clock")]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap();
        let now = Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap());
        now.plus_millis(self.0.load(Ordering::SeqCst))
    }
}
