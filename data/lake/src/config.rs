use std::time::Duration;

/// Maximum number of rows in one row group of a Parquet file.
pub(crate) const ROW_GROUP_ROWS: usize = 65_536;

/// Zstd compression level of the data files, 1 to 22. Level 3 would save about one byte in sixty.
pub(crate) const ZSTD_LEVEL: i32 = 1;

/// Time for which the tables' logs list removed files. Vacuum accepts no longer retention.
pub(crate) const LOG_RETENTION: Duration = Duration::from_secs(30 * 24 * 3600);

/// Target size, in bytes, of the merged files of [`crate::Lake::compact`].
pub(crate) const COMPACT_FILE_BYTES: u64 = 32 << 20;

/// Maximum number of attempts to write a commit batch when other processes keep committing first.
pub(crate) const ATTEMPTS_MAX: u32 = 32;

/// Layout of the lake's files. [`Default`] suits catalogues of one hundred to ten million products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LakeConfig {
    /// Number of partitions (buckets) of the current-state tables, fixed when the lake is created. It determines the
    /// partition of each store's rows.
    pub buckets: u32,
    /// Number of commits of a table between two checkpoints. Opening a table reads at most this many commits.
    pub checkpoint_every: u64,
}

impl Default for LakeConfig {
    fn default() -> Self {
        Self {
            buckets: 64,
            checkpoint_every: 16,
        }
    }
}
