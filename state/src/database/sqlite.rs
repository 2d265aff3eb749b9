use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};

use super::{ACQUIRE_TIMEOUT, STATEMENT_TIMEOUT, migrate};
use crate::error::StateError;

const FILE: &str = "state.sqlite3";
const LOCK: &str = "open.lock";
/// Readers beside one writer; a page of theirs costs nothing while they rest.
const CONNECTIONS_MAX: u32 = 4;
/// How long a change waits for another program's. Below the time that one statement may take.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Opens the database in `folder`, made where it is absent.
pub(super) async fn open(folder: &Path) -> Result<SqlitePool, StateError> {
    let file = folder.join(FILE);
    // Held until the schema is up to date: of two programs that start at the same time, one makes it.
    let lock = blocking(folder, prepare).await?;
    let options = SqliteConnectOptions::new()
        .filename(&file)
        .journal_mode(SqliteJournalMode::Wal)
        // A commit is acknowledged when it is synced. WAL alone would keep the file whole, but lose the last commits.
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY_TIMEOUT);
    let pool = SqlitePoolOptions::new()
        .max_connections(CONNECTIONS_MAX)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .connect_with(checked(options))
        .await
        .map_err(StateError::from)?;
    migrate::sqlite(&pool).await?;
    // The names of the file and of its log survive a power cut too.
    blocking(folder, |folder| File::open(folder)?.sync_all()).await?;
    drop(lock);
    Ok(pool)
}

/// A database that ends with its only connection, which therefore never rests.
pub(super) async fn open_memory() -> Result<SqlitePool, StateError> {
    let options = SqliteConnectOptions::new().in_memory(true);
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .min_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .connect_with(checked(options))
        .await
        .map_err(StateError::from)?;
    migrate::sqlite(&pool).await?;
    Ok(pool)
}

fn checked(options: SqliteConnectOptions) -> SqliteConnectOptions {
    options.foreign_keys(true).disable_statement_logging()
}

async fn blocking<T: Send + 'static>(
    folder: &Path,
    work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
) -> Result<T, StateError> {
    let path: PathBuf = folder.to_owned();
    let done = tokio::task::spawn_blocking(move || work(&path).map_err(|source| StateError::Folder { path, source }));
    // Another program that hangs while it opens the same folder is not waited for without end.
    let in_time = tokio::time::timeout(STATEMENT_TIMEOUT, done).await;
    let done = in_time.map_err(|_| StateError::Unavailable(None))?;
    done.map_err(|_| StateError::Unavailable(None))?
}

/// Makes the folder and the empty file, for their owner alone, and takes the lock of whoever opens.
fn prepare(folder: &Path) -> io::Result<File> {
    if !folder.is_dir() {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
        if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            File::open(parent)?.sync_all()?;
        }
    }
    let lock = private(&folder.join(LOCK))?;
    lock.lock()?;
    private(&folder.join(FILE))?;
    Ok(lock)
}

/// Opens a file that only its owner can read, made where it is absent.
fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
