//! The lease of the queue: a right that expires automatically.

use std::time::Duration;

use data_model::Timestamp;

use crate::database::{Value, values};

/// Maximum duration of a lease, in seconds. A lease with a later end comes from a clock that was ahead.
pub const WORK_LEASE_S_MAX: u32 = 86_400;
pub(super) const LEASE_MS_MAX: i64 = WORK_LEASE_S_MAX as i64 * 1000;

/// A right that expires automatically. Its fence distinguishes the holder from all earlier holders.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkLease {
    pub(super) name: String,
    pub(super) fence: i64,
}

impl WorkLease {
    /// Returns the fence of the lease.
    #[must_use]
    pub const fn fence(&self) -> i64 {
        self.fence
    }

    pub(super) fn values(&self) -> Vec<Value> {
        values![&self.name, self.fence]
    }
}

pub(super) fn lease_end(now: Timestamp, lease: Duration) -> Timestamp {
    now.plus_millis(i64::try_from(lease.as_millis()).unwrap_or(i64::MAX))
}
