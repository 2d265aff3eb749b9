use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection};

use super::{ACQUIRE_TIMEOUT, STATEMENT_TIMEOUT, migrate};
use crate::error::StateError;

const FILE: &str = "state.sqlite3";
const LOCK: &str = "open.lock";
const USERS: &str = "users.lock";
/// One writer and several readers.
const CONNECTIONS_MAX: u32 = 4;
/// Maximum wait for another process's transaction, which is shorter than the time limit of a statement.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// A file lock that marks the folder as in use. The operating system releases the lock when the process ends in any
/// way.
#[derive(Debug)]
pub(super) struct InUse {
    _lock: File,
}

/// Returns true if `folder` contains a database. An empty file does not count.
pub(super) fn is_there(folder: &Path) -> bool {
    std::fs::metadata(folder.join(FILE)).is_ok_and(|file| file.len() > 0)
}

/// Opens the database in `folder`, or creates it. If no other process uses the folder, the leases of dead processes
/// end.
pub(super) async fn open(folder: &Path) -> Result<(SqlitePool, InUse), StateError> {
    let file = folder.join(FILE);
    // Of two processes that start together, only one may create the schema, so the lock lasts until the migration is
    // done.
    let lock = blocking(folder, prepare).await?;
    let options = SqliteConnectOptions::new()
        .filename(&file)
        .journal_mode(SqliteJournalMode::Wal)
        // A commit is acknowledged only after it is synced. WAL alone keeps the file intact, but may lose the last
        // commits.
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY_TIMEOUT);
    let pool = SqlitePoolOptions::new()
        .max_connections(CONNECTIONS_MAX)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        // SQLite may roll back a transaction automatically, for example on a full disk. The connection still counts the
        // transaction as open and refuses every later one, so the pool replaces the connection.
        .before_acquire(|connection, _| Box::pin(async move { Ok(!connection.is_in_transaction()) }))
        .connect_with(checked(options))
        .await
        .map_err(StateError::from)?;
    migrate::sqlite(&pool).await?;
    // The directory entries of the file and its log survive a power cut.
    blocking(folder, |folder| File::open(folder)?.sync_all()).await?;
    let (users, is_alone) = blocking(folder, users).await?;
    if is_alone {
        end_leases(&pool).await?;
    }
    // Other processes wait for the first lock, so none can check for other users before this process has the shared
    // lock.
    let users = blocking(folder, |_| shared(users)).await?;
    drop(lock);
    Ok((pool, InUse { _lock: users }))
}

/// Opens the lock file that all users of the folder share. Returns true, with the file locked, if there is no other
/// user.
fn users(folder: &Path) -> io::Result<(File, bool)> {
    let file = private(&folder.join(USERS))?;
    match file.try_lock() {
        Ok(()) => Ok((file, true)),
        Err(TryLockError::WouldBlock) => Ok((file, false)),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn shared(file: File) -> io::Result<File> {
    file.unlock()?;
    file.lock_shared()?;
    Ok(file)
}

async fn end_leases(pool: &SqlitePool) -> Result<(), StateError> {
    for sql in [
        "UPDATE carts SET lease_until = 0 WHERE lease_until > 0",
        "UPDATE idempotent_requests SET lease_until = 0 WHERE lease_until > 0",
        "UPDATE jobs SET lease = NULL, revision = revision + 1 WHERE lease IS NOT NULL",
        "UPDATE work_leases SET lease_until = 0 WHERE lease_until > 0",
    ] {
        sqlx::query(sql).execute(pool).await?;
    }
    Ok(())
}

pub(super) async fn open_to_read(folder: &Path) -> Result<Option<SqlitePool>, StateError> {
    let file = folder.join(FILE);
    if !file.is_file() {
        return Ok(None);
    }
    let options = SqliteConnectOptions::new()
        .filename(&file)
        .read_only(true)
        .busy_timeout(BUSY_TIMEOUT);
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .connect_with(checked(options))
        .await?;
    Ok(Some(pool))
}

pub(super) async fn fault(pool: &SqlitePool) -> Result<Option<String>, StateError> {
    let found: String = sqlx::query_scalar("PRAGMA integrity_check(1)").fetch_one(pool).await?;
    Ok(Some(found).filter(|found| found != "ok"))
}

pub(super) async fn has_schema(pool: &SqlitePool) -> Result<bool, StateError> {
    let made = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = '_sqlx_migrations'";
    let tables: i64 = sqlx::query_scalar(made).fetch_one(pool).await?;
    Ok(tables > 0)
}

/// The database in memory is lost when its only connection closes, so the pool never closes an idle connection.
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
    // Another program may hang while it opens the same folder.
    let in_time = tokio::time::timeout(STATEMENT_TIMEOUT, done).await;
    let done = in_time.map_err(|_| StateError::Unavailable(None))?;
    done.map_err(|_| StateError::Unavailable(None))?
}

/// Creates the folder and the empty file, accessible to their owner only, and takes the lock for opening.
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

fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
