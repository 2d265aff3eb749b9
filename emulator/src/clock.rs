use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use chrono::{DateTime, TimeDelta, Utc};

/// Clock by which carts, tokens and discounts expire: the machine's clock, moved forward on demand.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    ahead_ms: AtomicI64,
}

impl Clock {
    #[expect(
        clippy::disallowed_methods,
        reason = "an emulated store has a time of its own, which tests move forward"
    )]
    pub(crate) fn now(&self) -> DateTime<Utc> {
        let now = DateTime::<Utc>::from(SystemTime::now());
        let ahead = TimeDelta::milliseconds(self.ahead_ms.load(Ordering::Acquire));
        now.checked_add_signed(ahead).unwrap_or(now)
    }

    pub(crate) fn advance(&self, by: Duration) {
        let by_ms = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        let moved = |ahead: i64| Some(ahead.saturating_add(by_ms));
        let _ = self.ahead_ms.fetch_update(Ordering::AcqRel, Ordering::Acquire, moved);
    }
}
