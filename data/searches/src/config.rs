/// Number of days for which counts are kept by default.
pub const KEPT_DAYS: u32 = 90;

/// Limits for counting searched words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchesConfig {
    /// Maximum number of texts per day that a server keeps in memory. Beyond it, texts that were searched once are
    /// dropped.
    pub words_max: usize,
    /// Interval, in milliseconds, at which counts are written.
    pub flush_interval_ms: u64,
    /// Number of days for which counts are stored.
    pub kept_days: u32,
}

impl Default for SearchesConfig {
    fn default() -> Self {
        Self {
            words_max: 20_000,
            flush_interval_ms: 300_000,
            kept_days: KEPT_DAYS,
        }
    }
}
