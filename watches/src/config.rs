use serde::{Deserialize, Serialize};

/// Settings of watches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WatchesConfig {
    /// Most watches of one caller.
    pub per_caller_max: u32,
    /// The interval between looks for events that are due.
    pub poll_ms: u64,
    /// Longest time in which a receiver must answer.
    pub timeout_ms: u64,
    /// Most events that are delivered at the same time.
    pub deliveries_at_once_max: u32,
    /// Most mails to one address within a day; what is beyond waits.
    pub mails_per_address_per_day_max: u32,
}

impl Default for WatchesConfig {
    fn default() -> Self {
        Self {
            per_caller_max: 100,
            poll_ms: 1_000,
            timeout_ms: 10_000,
            deliveries_at_once_max: 16,
            mails_per_address_per_day_max: 50,
        }
    }
}
