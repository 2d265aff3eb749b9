use serde::{Deserialize, Serialize};

/// Settings of watches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WatchesConfig {
    /// Maximum number of watches of one caller.
    pub per_caller_max: u32,
    /// Interval in milliseconds at which due events are looked up.
    pub poll_ms: u64,
    /// Maximum response time of a receiver, in milliseconds.
    pub timeout_ms: u64,
    /// Maximum number of events that are delivered concurrently.
    pub deliveries_at_once_max: u32,
    /// Maximum number of e-mails to one address within a day. Further e-mails are sent later.
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
