use std::time::Duration;

use tokio::time::Instant;

/// Deadline at which the edge aborts a request other than a plain read; the edge puts it into each request. Work that
/// must not be aborted silently ends earlier.
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
