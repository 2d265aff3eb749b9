//! One interface to two databases. The same statements, with `$1` for parameters, run on SQLite and PostgreSQL.

mod dump;
mod master_keys;
mod migrate;
#[cfg(feature = "postgres")]
mod postgres;
mod sqlite;
mod statement;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_recursion::async_recursion as boxed;
#[cfg(feature = "postgres")]
use sqlx::postgres::PgPool;
use sqlx::sqlite::SqlitePool;

pub use self::dump::{KeyFate, KeysSince, TakeDump};
pub(crate) use self::statement::{Value, WriteTransaction, values};
use crate::envelope::MasterKeys;
use crate::error::StateError;

/// Maximum wait for a free or new connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit of one statement, so that callers do not wait long for a database that hangs.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(10);

/// The location of the state.
#[derive(Debug, Clone)]
pub enum StateTarget {
    /// SQLite: the file `state.sqlite3` in this folder. An absent folder is created with access for its owner only.
    Folder(PathBuf),
    /// A PostgreSQL server.
    #[cfg(feature = "postgres")]
    Postgres(data_model::Secret),
    /// Memory only. The state ends with the process.
    Memory,
}

impl StateTarget {
    /// Parses `postgres://user:password@host/database`. A connection to another machine requires TLS and a certificate
    /// for the host name, unless the query sets `sslmode`.
    ///
    /// # Errors
    /// [`StateError::Url`], [`StateError::NoPostgres`]. The message does not contain the URL.
    #[cfg(feature = "postgres")]
    pub fn postgres(url: &str) -> Result<Self, StateError> {
        postgres::options(url)?;
        Ok(Self::Postgres(data_model::Secret::new(url)))
    }

    /// Always fails in a program that was built without PostgreSQL.
    ///
    /// # Errors
    /// [`StateError::NoPostgres`].
    #[cfg(not(feature = "postgres"))]
    pub const fn postgres(_url: &str) -> Result<Self, StateError> {
        Err(StateError::NoPostgres)
    }

    /// Returns true if the folder exists without a database. Opening the folder would create an empty one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Folder(folder) if !sqlite::is_there(folder))
    }
}

/// The persistent state of servers. Clones share the same connections.
#[derive(Clone)]
pub struct State {
    database: Database,
    /// Marks the folder as in use until the last clone is dropped.
    _in_use: Option<Arc<sqlite::InUse>>,
}

#[derive(Clone)]
enum Database {
    Sqlite(SqlitePool),
    #[cfg(feature = "postgres")]
    Postgres(PgPool),
}

impl State {
    /// Opens the state and migrates its schema. Several programs may do so concurrently. Without other processes at the
    /// folder, the leases of dead processes end immediately.
    ///
    /// # Errors
    /// [`StateError`]: the folder cannot be created, the server does not respond, or [`StateError::NewerSchema`].
    #[boxed]
    pub async fn open(target: &StateTarget) -> Result<Self, StateError> {
        let mut in_use = None;
        let database = match target {
            StateTarget::Folder(folder) => {
                let (pool, lock) = sqlite::open(folder).await?;
                in_use = Some(Arc::new(lock));
                Database::Sqlite(pool)
            }
            #[cfg(feature = "postgres")]
            StateTarget::Postgres(url) => Database::Postgres(postgres::open(url.expose()).await?),
            StateTarget::Memory => Database::Sqlite(sqlite::open_memory().await?),
        };
        Ok(Self {
            database,
            _in_use: in_use,
        })
    }

    /// Checks that the database responds.
    ///
    /// # Errors
    /// [`StateError::Unavailable`].
    #[boxed]
    pub async fn ping(&self) -> Result<(), StateError> {
        let _: Vec<(i64,)> = self.rows("SELECT CAST(1 AS BIGINT)", vec![]).await?;
        Ok(())
    }

    /// Checks a state without changing it, and returns true if there is one. Reads SQLite's whole file, or checks that
    /// a server responds. Also checks that all previously used master keys were given. A file without tables is not a
    /// state.
    ///
    /// # Errors
    /// [`StateError::Corrupt`], [`StateError::MasterKeyMissing`], or the database cannot be opened or does not respond.
    #[boxed]
    pub async fn inspect(target: &StateTarget, keys: Option<&MasterKeys>) -> Result<bool, StateError> {
        let database = match target {
            StateTarget::Folder(folder) => match sqlite::open_to_read(folder).await? {
                Some(pool) => Database::Sqlite(pool),
                None => return Ok(false),
            },
            #[cfg(feature = "postgres")]
            StateTarget::Postgres(url) => Database::Postgres(postgres::connect(url.expose()).await?),
            StateTarget::Memory => return Ok(false),
        };
        let state = Self {
            database,
            _in_use: None,
        };
        let inspected = state.inspected(keys).await;
        state.close().await;
        inspected
    }

    async fn inspected(&self, keys: Option<&MasterKeys>) -> Result<bool, StateError> {
        match &self.database {
            Database::Sqlite(pool) => match sqlite::fault(pool).await? {
                Some(found) => return Err(StateError::Corrupt { found }),
                // A file without tables is intact, but contains no state.
                None if !sqlite::has_schema(pool).await? => return Ok(false),
                None => {}
            },
            #[cfg(feature = "postgres")]
            Database::Postgres(_) => self.ping().await?,
        }
        self.check_master_keys(keys).await.map(|()| true)
    }

    /// Closes all connections. Later operations fail.
    #[boxed]
    pub async fn close(&self) {
        match &self.database {
            Database::Sqlite(pool) => pool.close().await,
            #[cfg(feature = "postgres")]
            Database::Postgres(pool) => pool.close().await,
        }
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The Debug output of the pools contains the URL of the database.
        f.write_str(match &self.database {
            Database::Sqlite(_) => "State(SQLite)",
            #[cfg(feature = "postgres")]
            Database::Postgres(_) => "State(PostgreSQL)",
        })
    }
}
