use std::time::Duration;

/// Layout of the lake's files. [`Default`] suits catalogues of one hundred to ten million products.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LakeConfig {
    /// Number of partitions (buckets) of the current-state tables, fixed when the lake is created. It determines the
    /// partition of each store's rows.
    pub buckets: u32,
    /// Maximum number of rows in one row group of a Parquet file.
    pub row_group_rows: usize,
    /// Zstd compression level of the data files, 1 to 22. Level 3 would save about one byte in sixty.
    pub zstd_level: i32,
    /// Number of commits of a table between two checkpoints. Opening a table reads at most this many commits.
    pub checkpoint_every: u64,
    /// Time for which the tables' logs list removed files. Vacuum accepts no longer retention.
    pub log_retention: Duration,
    /// Target size, in bytes, of the merged files of [`crate::Lake::compact`].
    pub compact_file_bytes: u64,
    /// Maximum number of attempts to write a commit batch when other processes keep committing first.
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
