use std::time::Duration;

use tokio::time::Instant;

/// When the edge gives up on a request that is no plain read; the edge puts it into each. Work that must not be cut unseen
/// ends before.
#[derive(Debug, Clone, Copy)]
pub struct AnswerBy(Instant);

impl AnswerBy {
    pub(super) fn within(timeout_ms: u64) -> Self {
        Self(Instant::now() + Duration::from_millis(timeout_ms))
    }

    /// The moment.
    #[must_use]
    pub const fn instant(self) -> Instant {
        self.0
    }
}
