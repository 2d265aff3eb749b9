use std::time::Duration;

use tokio::time::Instant;

/// Deadline at which the edge aborts a request that is no plain read. The edge adds the deadline to each request, so
/// that work that must not be aborted ends earlier.
#[derive(Debug, Clone, Copy)]
pub struct AnswerBy(Instant);

impl AnswerBy {
    pub(super) fn within(timeout_ms: u64) -> Self {
        Self(Instant::now() + Duration::from_millis(timeout_ms))
    }

    /// Returns the deadline.
    #[must_use]
    pub const fn instant(self) -> Instant {
        self.0
    }
}
