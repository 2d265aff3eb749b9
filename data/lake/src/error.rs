use arrow::error::ArrowError;
use data_model::{BrandSlug, StoreHost};
use data_storage::StorageError;
use deltalake::DeltaTableError;

use crate::TableName;
use crate::config::ATTEMPTS_MAX;

/// Error of reading or writing the lake.
#[derive(Debug, thiserror::Error)]
pub enum LakeError {
    /// The object store failed on an object that does not belong to a table.
    #[error("the lake's storage failed")]
    Storage(#[from] StorageError),
    /// A file could not be read or written.
    #[error("cannot access {path}")]
    File {
        /// Path of the file in the lake.
        path: String,
        /// Underlying object store error.
        #[source]
        source: object_store::Error,
    },
    /// A table could not be created, read or committed to.
    #[error("table {table}: {operation} failed")]
    Table {
        /// Name of the table.
        table: &'static str,
        /// Step that failed.
        operation: &'static str,
        /// Underlying Delta error.
        #[source]
        source: Box<DeltaTableError>,
    },
    /// A commit could not be written. Opening the lake again shows if the commit landed.
    #[error("table {table}: the commit of version {version} failed")]
    Commit {
        /// Name of the table.
        table: &'static str,
        /// Table version that was to be written.
        version: u64,
        /// Underlying error of the log store.
        #[source]
        source: Box<deltalake::kernel::transaction::TransactionError>,
    },
    /// A table requires a writer feature that this program does not support.
    #[error("table {table} requires a writer feature that this program does not support")]
    Protocol {
        /// Name of the table.
        table: &'static str,
        /// Error that names the unsupported feature.
        #[source]
        source: Box<deltalake::kernel::transaction::TransactionError>,
    },
    /// A data file is not a Parquet file that this program can read.
    #[error("{path} cannot be read as Parquet")]
    Parquet {
        /// Path of the file in its table.
        path: String,
        /// Error of the Parquet reader or writer.
        #[source]
        source: parquet::errors::ParquetError,
    },
    /// A data file does not contain the originally written bytes.
    #[error("{path} is damaged: its SHA-256 differs from the recorded one")]
    Damaged {
        /// Path of the file in the lake.
        path: String,
    },
    /// A data file that contains needed rows is missing or damaged. The lake was not changed.
    #[error(
        "{path} is missing or damaged: restore it from a copy, or run `haat crawl --force` for all brands whose rows it contains{}",
        named(brands.iter().map(|(_, slug)| slug))
    )]
    Lost {
        /// Path of the file in the lake.
        path: String,
        /// Brands with rows in the file, if they can be determined.
        brands: Vec<(StoreHost, BrandSlug)>,
        /// Error of the object store or of the Parquet reader.
        #[source]
        source: Box<LakeError>,
    },
    /// A log entry that the table's current state needs is missing or damaged. The lake was not changed.
    #[error(
        "{path}, an entry of its table's log, is {fault}: restore it from a copy, or run `haat lake repair --dry-run` to see how to repair it"
    )]
    Log {
        /// Path of the log entry in the lake.
        path: String,
        /// Short description of the fault, such as "missing".
        fault: &'static str,
    },
    /// An earlier version of a table can no longer be read.
    #[error(
        "version {version} of {table} cannot be read, because {path} is missing: vacuum removed it, or it is lost. If it is lost, \
         restore it from a copy"
    )]
    VersionLost {
        /// Name of the table.
        table: &'static str,
        /// Version of the table.
        version: u64,
        /// Path of the first missing log entry.
        path: String,
    },
    /// Columns could not be assembled into a record batch.
    #[error("columns of {table} cannot be combined into a record batch")]
    Columns {
        /// Name of the table.
        table: &'static str,
        /// Underlying Arrow error.
        #[source]
        source: arrow::error::ArrowError,
    },
    /// A row contains a value that no writer of this lake writes.
    #[error("table {table}, column {column}: {value:?} is not a valid value")]
    Value {
        /// Name of the table.
        table: &'static str,
        /// Name of the column.
        column: &'static str,
        /// The invalid value, truncated.
        value: String,
    },
    /// The stored record of a commit batch cannot be parsed.
    #[error("{path} is not a valid record of a commit batch (tick)")]
    TickRecord {
        /// Path of the record in the lake.
        path: String,
        /// Error of the JSON parser.
        #[source]
        source: serde_json::Error,
    },
    /// Staged rows of an unfinished commit batch are missing or damaged.
    #[error("the staged rows of tick {tick} cannot be read")]
    Staged {
        /// Number of the commit batch.
        tick: u64,
        /// Underlying Arrow error.
        #[source]
        source: arrow::error::ArrowError,
    },
    /// The end record of a commit batch is missing, although the batch has ended or later batches have begun.
    #[error(
        "_ticks/{tick:020}.done.json, which records the end of a tick, is missing: open the lake again, which recreates it, or restore it from a copy"
    )]
    EndMissing {
        /// Number of the commit batch.
        tick: u64,
    },
    /// A commit batch was begun and cannot be finished now, so that no state from it or later can be read.
    #[error("tick {tick} is begun but cannot be finished: its changes cannot be read yet")]
    Unfinished {
        /// Number of the commit batch.
        tick: u64,
        /// Error that prevents the commit batch from being finished.
        #[source]
        source: Box<LakeError>,
    },
    /// The same store occurs twice in one commit batch.
    #[error("{store} occurs twice in one tick")]
    StoreTwice {
        /// The store that occurs twice.
        store: String,
    },
    /// Another process has taken over the lease, so that this commit was refused. The lake was not changed.
    #[error(
        "another process has taken over the right to commit: this process has fence number {fence}, the lake has {newest}"
    )]
    Fenced {
        /// Fence number of the refused commit.
        fence: u64,
        /// Highest fence number that the lake has recorded.
        newest: u64,
    },
    /// The storage overwrites an existing object despite `If-None-Match: *`.
    #[error(
        "the storage ignores `If-None-Match: *`, so two writers could overwrite each other's objects: use an object store that supports conditional writes"
    )]
    Unconditional,
    /// Other processes committed first in every attempt.
    #[error("other processes committed first in each of {} attempts", ATTEMPTS_MAX)]
    Contended,
    /// No finished commit batch of that time is known. The lake did not exist yet, or vacuum removed the record.
    #[error(
        "no state of the lake is known for {moment}: the lake did not exist yet, or vacuum removed that state; table price_history reaches further back"
    )]
    NoTickThen {
        /// Time that was requested.
        moment: data_model::Timestamp,
    },
    /// The commit batch with the requested number has not begun yet.
    #[error("there is no tick {tick} yet: the newest is {newest}")]
    NoSuchTick {
        /// Number of the requested commit batch.
        tick: u64,
        /// Number of the newest commit batch that has ended.
        newest: u64,
    },
    /// A version map has no entry for a table.
    #[error("the version of table {table} is not given")]
    VersionMissing {
        /// Name of the table.
        table: &'static str,
    },
    /// The requested vacuum retention is longer than the time for which the logs list removed files.
    #[error("removed files can be kept for at most {known_hours} hours, but {asked_hours} hours were requested")]
    RetentionTooLong {
        /// Requested retention in hours.
        asked_hours: u64,
        /// Maximum retention in hours.
        known_hours: u64,
    },
    /// The lake was created with a different number of buckets than the configuration has.
    #[error("the lake has {lake} buckets, but the configuration says {config}")]
    Buckets {
        /// Number of buckets of the lake.
        lake: u32,
        /// Number of buckets in the configuration.
        config: u32,
    },
    /// The record of the lake's creation is lost, and its rows are not partitioned according to the configuration.
    #[error(
        "_ticks/layout.json is missing or damaged, and the lake's rows are not distributed over {config} buckets: \
         configure the number of buckets that the lake was created with"
    )]
    BucketsUnknown {
        /// Number of buckets in the configuration.
        config: u32,
    },
    /// The query engine rejected a table.
    #[error("table {table} cannot be registered for SQL")]
    Session {
        /// Name of the table.
        table: &'static str,
        /// Underlying DataFusion error.
        #[source]
        source: Box<datafusion::error::DataFusionError>,
    },
    /// Files that an earlier version of a table needs are missing or damaged.
    #[error("{table} cannot be restored to version {version}: {path} is missing or damaged")]
    NotRestorable {
        /// Name of the table.
        table: &'static str,
        /// Version that was to be restored.
        version: u64,
        /// Path of the first file that is missing or damaged.
        path: String,
        /// Error of the check of that file.
        #[source]
        source: Box<LakeError>,
    },
    /// The table is append-only, so that its rows cannot be restored to an earlier state.
    #[error("{table} is append-only and cannot be restored to an earlier state")]
    OnlyGrows {
        /// Name of the table.
        table: &'static str,
    },
    /// A background task ended before it finished its work.
    #[error("a background task ended early")]
    Task(#[source] tokio::task::JoinError),
}

impl LakeError {
    /// Returns the path of the missing or damaged data file that caused the error, and `None` after a storage failure.
    #[must_use]
    pub fn lost_file(&self) -> Option<&str> {
        match self {
            Self::Lost { path, .. } => Some(path),
            error => lost_file(error),
        }
    }
}

/// Returns the path of the lost file, or `None` if the storage itself failed.
pub(crate) fn lost_file(error: &LakeError) -> Option<&str> {
    match error {
        LakeError::File {
            path,
            source: object_store::Error::NotFound { .. },
        }
        | LakeError::Parquet { path, .. }
        | LakeError::Damaged { path } => Some(path),
        _ => None,
    }
}

/// Returns `None` and logs a warning with the consequence if a file is lost.
pub(crate) fn unless_lost<T>(read: Result<T, LakeError>, consequence: &str) -> Result<Option<T>, LakeError> {
    match read {
        Err(error) if lost_file(&error).is_some() => {
            tracing::warn!(error = &error as &dyn std::error::Error, "{consequence}");
            Ok(None)
        }
        read => read.map(Some),
    }
}

/// Returns the error of columns that cannot be assembled into rows of the table.
pub(crate) fn unfit_columns(table: TableName) -> impl Fn(ArrowError) -> LakeError + Copy {
    move |source| LakeError::Columns {
        table: table.as_str(),
        source,
    }
}

const NAMED_MAX: usize = 8;

fn named<'a>(mut slugs: impl Iterator<Item = &'a BrandSlug>) -> String {
    let names: Vec<&str> = slugs.by_ref().take(NAMED_MAX).map(BrandSlug::as_str).collect();
    if names.is_empty() {
        return String::new();
    }
    let more = slugs.count();
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!(" ({}{more})", names.join(", "))
}
