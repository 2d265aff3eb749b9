use std::time::Duration;

/// The layout of the lake's files; [`Default`] is right for catalogues from a hundred to ten million products.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LakeConfig {
    /// Partitions of the current-state tables. Fixed when the lake is created: it says in which partition a
    /// store's rows are.
    pub buckets: u32,
    /// Most rows in one row group of a file.
    pub row_group_rows: usize,
    /// Level of zstd, 1 to 22: of what the tables hold, level 3 would save one byte in sixty.
    pub zstd_level: i32,
    /// Commits of a table between two checkpoints; opening a table reads at most this many commits.
    pub checkpoint_every: u64,
    /// The time for which removed files are remembered: the longest that vacuum can be asked to keep.
    pub log_retention: Duration,
    /// The size to which [`crate::Lake::compact`] merges the files of append-only tables.
    pub compact_file_bytes: u64,
    /// The times that a tick is tried again when another process committed first.
    pub attempts_max: u32,
}

impl Default for LakeConfig {
    fn default() -> Self {
        Self {
            buckets: 64,
            row_group_rows: 65_536,
            zstd_level: 1,
            checkpoint_every: 16,
            log_retention: Duration::from_secs(30 * 24 * 3600),
            compact_file_bytes: 32 << 20,
            attempts_max: 32,
        }
    }
}
