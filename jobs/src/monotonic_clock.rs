use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use data_model::Clock;
use tokio::time::Instant;

/// Clock that never goes back, even if the system clock is changed.
pub trait MonotonicClock: Send + Sync + fmt::Debug {
    /// Returns the time since a fixed point in this process.
    fn elapsed(&self) -> Duration;
}

/// System clock and monotonic clock of a process.
#[derive(Debug, Clone)]
pub struct Clocks {
    /// System clock, which may be changed.
    pub clock: Arc<dyn Clock>,
    /// Monotonic clock.
    pub elapsed: Arc<dyn MonotonicClock>,
}

/// Monotonic clock of this process.
#[derive(Debug, Clone, Copy)]
pub struct ProcessTime(Instant);

impl ProcessTime {
    /// Starts counting now.
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }
}

impl MonotonicClock for ProcessTime {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
