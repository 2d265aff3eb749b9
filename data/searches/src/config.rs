/// Bounds of counting searched words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchesConfig {
    /// Most words of a day that a server has in mind; beyond, those that it saw once go.
    pub words_max: usize,
    /// The interval at which counts are written.
    pub flush_interval_ms: u64,
    /// Days for which counts are kept.
    pub kept_days: u32,
}

impl Default for SearchesConfig {
    fn default() -> Self {
        Self {
            words_max: 20_000,
            flush_interval_ms: 300_000,
            kept_days: 90,
        }
    }
}
