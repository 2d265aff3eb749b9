use data_model::{BrandSlug, StoreHost};
use data_storage::StorageError;
use deltalake::DeltaTableError;

/// The reason why the lake could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LakeError {
    /// The object store failed outside a table.
    #[error("the lake's storage failed")]
    Storage(#[from] StorageError),
    /// A file could not be read or written.
    #[error("cannot access {path}")]
    File {
        /// The file's path in the lake.
        path: String,
        /// The error of the store.
        #[source]
        source: object_store::Error,
    },
    /// A table could not be created, read or committed to.
    #[error("table {table}: {operation} failed")]
    Table {
        /// The table's name.
        table: &'static str,
        /// The step that failed.
        operation: &'static str,
        /// The error of Delta.
        #[source]
        source: Box<DeltaTableError>,
    },
    /// A commit could not be written; whether it was is unknown until the lake is opened again.
    #[error("table {table}: the commit of version {version} failed")]
    Commit {
        /// The table's name.
        table: &'static str,
        /// The version that was to be written.
        version: u64,
        /// The error of the log store.
        #[source]
        source: Box<deltalake::kernel::transaction::TransactionError>,
    },
    /// A table asks for something of its writers that this program cannot do.
    #[error("table {table} was changed so that it can no longer be written here")]
    Protocol {
        /// The table's name.
        table: &'static str,
        /// The error that names the demand.
        #[source]
        source: Box<deltalake::kernel::transaction::TransactionError>,
    },
    /// A data file is no Parquet file that this program understands.
    #[error("{path} is not readable as Parquet")]
    Parquet {
        /// The file's path in its table.
        path: String,
        /// The error of the reader or writer.
        #[source]
        source: parquet::errors::ParquetError,
    },
    /// A data file does not hold the bytes that were written.
    #[error("{path} is damaged: its SHA-256 is not the one that it was written with")]
    Damaged {
        /// The file's path in the lake.
        path: String,
    },
    /// A data file with rows that are needed is missing or damaged. Nothing was changed.
    #[error(
        "{path} is missing or damaged: put it back from a copy, or let `haat crawl --force` read all brands whose rows it holds{}",
        named(brands.iter().map(|(_, slug)| slug))
    )]
    Lost {
        /// The file's path in the lake.
        path: String,
        /// The brands whose rows it holds, where that can be told.
        brands: Vec<(StoreHost, BrandSlug)>,
        /// The error of the store or the reader.
        #[source]
        source: Box<LakeError>,
    },
    /// An entry of a table's log that its state is made of is missing or damaged. Nothing was changed.
    #[error(
        "{path}, of its table's log, is {fault}: put it back from a copy, or see `haat lake repair --dry-run` for the way back"
    )]
    Log {
        /// The entry's path in the lake.
        path: String,
        /// The fault in a word.
        fault: &'static str,
    },
    /// An earlier version of a table cannot be read any more.
    #[error(
        "version {version} of {table} cannot be read: {path} is missing. It is older than what vacuum kept, or it is lost: put it \
         back from a copy"
    )]
    VersionLost {
        /// The table.
        table: &'static str,
        /// The version.
        version: u64,
        /// The first entry of the log that is missing.
        path: String,
    },
    /// Columns could not be put together.
    #[error("columns of {table} do not fit together")]
    Columns {
        /// The table's name.
        table: &'static str,
        /// The error of Arrow.
        #[source]
        source: arrow::error::ArrowError,
    },
    /// A row holds what no writer of this lake writes.
    #[error("table {table}, column {column}: not a valid value: {value:?}")]
    Value {
        /// The table's name.
        table: &'static str,
        /// The column's name.
        column: &'static str,
        /// The value, shortened.
        value: String,
    },
    /// A record of a tick is not readable.
    #[error("{path} is not the record of a tick")]
    TickRecord {
        /// Its path.
        path: String,
        /// The error of the parser.
        #[source]
        source: serde_json::Error,
    },
    /// Staged rows of an unfinished tick are missing or damaged.
    #[error("the staged rows of tick {tick} are not readable")]
    Staged {
        /// The tick's number.
        tick: u64,
        /// The error of Arrow.
        #[source]
        source: arrow::error::ArrowError,
    },
    /// A tick has ended, or others began after it, and which table versions belong to it is not recorded.
    #[error(
        "_ticks/{tick:020}.done.json, the end of a tick, is missing: open the lake again, which writes it anew, or put it back from a copy"
    )]
    EndMissing {
        /// The tick's number.
        tick: u64,
    },
    /// A tick was begun and cannot be finished now, so that no state as new as it can be read.
    #[error("tick {tick} was begun and cannot be finished: what it brings is not to be read yet")]
    Unfinished {
        /// The tick's number.
        tick: u64,
        /// The reason why it cannot be finished.
        #[source]
        source: Box<LakeError>,
    },
    /// The same store occurs twice in one tick.
    #[error("{store} occurs twice in one tick")]
    StoreTwice {
        /// The store.
        store: String,
    },
    /// Somebody else was given the right to commit since. Nothing was changed.
    #[error("the right to commit is somebody else's by now: this one had {fence}, the lake has {newest}")]
    Fenced {
        /// The right that was given here.
        fence: u64,
        /// The newest that the lake knows.
        newest: u64,
    },
    /// The storage takes a new object where one lies.
    #[error(
        "the storage ignores `If-None-Match: *`: two writers would both be told that they were first; use an object store that keeps conditions"
    )]
    Unconditional,
    /// Other processes committed first, again and again.
    #[error("others committed first {attempts} times in a row")]
    Contended {
        /// The number of tries.
        attempts: u32,
    },
    /// There was no finished tick yet at that time, or its record was vacuumed.
    #[error(
        "nothing is known of the lake as of {moment}: it is older than what vacuum kept, or than the lake; price_history reaches further back"
    )]
    NoTickThen {
        /// The moment asked for.
        moment: data_model::Timestamp,
    },
    /// A tick that no commit has reached was asked for.
    #[error("there is no tick {tick} yet: the newest is {newest}")]
    NoSuchTick {
        /// The tick asked for.
        tick: u64,
        /// The newest that has ended.
        newest: u64,
    },
    /// A version map does not name a table.
    #[error("no version of table {table} is given")]
    VersionMissing {
        /// The table's name.
        table: &'static str,
    },
    /// Vacuum was asked to keep files longer than the tables remember them.
    #[error("files are remembered for {known_hours} hours, not for {asked_hours}")]
    RetentionTooLong {
        /// The time that was asked for.
        asked_hours: u64,
        /// The time that is remembered.
        known_hours: u64,
    },
    /// The lake was created with another number of buckets.
    #[error("the lake has {lake} buckets, the configuration says {config}")]
    Buckets {
        /// The number in the lake.
        lake: u32,
        /// The number in the configuration.
        config: u32,
    },
    /// The record of the lake's creation is lost, and its rows lie otherwise than the configuration says.
    #[error(
        "_ticks/layout.json is missing or damaged, and the lake's rows do not lie as {config} buckets would have them: \
         configure the number that it was created with"
    )]
    BucketsUnknown {
        /// The number in the configuration.
        config: u32,
    },
    /// The query engine refused a table.
    #[error("table {table} cannot be registered for SQL")]
    Session {
        /// The table's name.
        table: &'static str,
        /// The error of the engine.
        #[source]
        source: Box<datafusion::error::DataFusionError>,
    },
    /// Files that an earlier version of a table needs are gone or damaged.
    #[error("{table} cannot be restored to version {version}: {path} is gone or damaged")]
    NotRestorable {
        /// The table.
        table: &'static str,
        /// The version.
        version: u64,
        /// The first of the files.
        path: String,
        /// The error of the check.
        #[source]
        source: Box<LakeError>,
    },
    /// A table whose rows are never taken back.
    #[error("{table} only grows: it is not restored to an earlier state")]
    OnlyGrows {
        /// The table.
        table: &'static str,
    },
    /// A task ended before its work was done.
    #[error("a background task ended early")]
    Task(#[source] tokio::task::JoinError),
}

impl LakeError {
    /// The path of the data file that is missing or damaged, where it is this that failed and not the storage.
    #[must_use]
    pub fn lost_file(&self) -> Option<&str> {
        match self {
            Self::Lost { path, .. } => Some(path),
            error => lost_file(error),
        }
    }
}

/// The file, if it is one that is lost, and not the storage that fails.
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

/// The most brands that an error names.
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
