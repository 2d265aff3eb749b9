use serde::{Deserialize, Serialize};

/// Bounds of gathering observations on their way to storage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ObservationsConfig {
    /// Most observations that wait to be written; what comes beyond is lost, and counted. At least 1.
    pub queue_max: usize,
    /// Most observations in one file. At least 1, at most 10,000.
    pub batch_max: usize,
    /// The time that an observation waits for others to be written with.
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
