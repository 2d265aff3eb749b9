use serde::{Deserialize, Serialize};

/// Limits for buffering observations before they are written to storage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ObservationsConfig {
    /// Maximum number of observations that wait to be written, at least 1. Further observations are lost and counted.
    pub queue_max: usize,
    /// Maximum number of observations in one file, from 1 to 10,000.
    pub batch_max: usize,
    /// Maximum time, in milliseconds, for which an observation waits for others to be written with it.
    pub flush_interval_ms: u64,
}

impl Default for ObservationsConfig {
    fn default() -> Self {
        Self {
            queue_max: 10_000,
            batch_max: 2_000,
            flush_interval_ms: 5_000,
        }
    }
}
