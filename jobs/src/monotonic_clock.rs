use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use data_model::Clock;
use tokio::time::Instant;

/// The time that passes, whatever clocks are set to: it never goes back.
pub trait MonotonicClock: Send + Sync + fmt::Debug {
    /// The time since some moment of this process.
    fn elapsed(&self) -> Duration;
}

/// The two times of a process.
#[derive(Debug, Clone)]
pub struct Clocks {
    /// The clock, which may be set.
    pub clock: Arc<dyn Clock>,
    /// The time that passes.
    pub elapsed: Arc<dyn MonotonicClock>,
}

/// The time that passes for this process.
#[derive(Debug, Clone, Copy)]
pub struct ProcessTime(Instant);

impl ProcessTime {
    /// Counts from now on.
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
