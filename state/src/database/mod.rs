//! One door to two databases: the same statements, with `$1` for parameters, run on SQLite and on PostgreSQL.

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
pub(crate) use self::statement::{Value, WriteTransaction};
use crate::envelope::MasterKeys;
use crate::error::StateError;

/// Time to wait for a free connection, a new one included.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// Time that one statement may take: the longest wait of whoever depends on a database that hangs.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(10);

/// The place where the state is kept.
#[derive(Debug, Clone)]
pub enum StateTarget {
    /// In SQLite, as `state.sqlite3` in this folder, which is made where it is absent and is its owner's alone.
    Folder(PathBuf),
    /// In a PostgreSQL server.
    #[cfg(feature = "postgres")]
    Postgres(data_model::Secret),
    /// Nowhere: it ends with the process.
    Memory,
}

impl StateTarget {
    /// Reads `postgres://user:password@host/database`. A server on another machine is spoken to over TLS, and its
    /// certificate must be valid for its name, unless `sslmode` in the query says otherwise.
    ///
    /// # Errors
    /// [`StateError::Url`], [`StateError::NoPostgres`]; the message does not hold the text.
    #[cfg(feature = "postgres")]
    pub fn postgres(url: &str) -> Result<Self, StateError> {
        postgres::options(url)?;
        Ok(Self::Postgres(data_model::Secret::new(url)))
    }

    /// A program that was built without PostgreSQL has no such place.
    ///
    /// # Errors
    /// [`StateError::NoPostgres`].
    #[cfg(not(feature = "postgres"))]
    pub const fn postgres(_url: &str) -> Result<Self, StateError> {
        Err(StateError::NoPostgres)
    }

    /// True where the folder lacks a database, so that opening it begins an empty one; `false` where there is no folder.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Folder(folder) if !sqlite::is_there(folder))
    }
}

/// The things that servers must remember. Clones share the same connections.
#[derive(Clone)]
pub struct State {
    database: Database,
    /// Says that the folder is in use, until the last clone is gone.
    _in_use: Option<Arc<sqlite::InUse>>,
}

#[derive(Clone)]
enum Database {
    Sqlite(SqlitePool),
    #[cfg(feature = "postgres")]
    Postgres(PgPool),
}

impl State {
    /// Opens the state and brings its schema up to date; several programs may do so at the same time. Leases that ended
    /// programs left in a folder end at once where nobody else has it open.
    ///
    /// # Errors
    /// [`StateError`]: a folder that cannot be made, a server that does not answer, [`StateError::NewerSchema`].
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

    /// Asks the database for a sign of life.
    ///
    /// # Errors
    /// [`StateError::Unavailable`].
    #[boxed]
    pub async fn ping(&self) -> Result<(), StateError> {
        let _: Vec<(i64,)> = self.rows("SELECT CAST(1 AS BIGINT)", vec![]).await?;
        Ok(())
    }

    /// Looks at a state without changing it, and answers whether there is one: reads all of SQLite's file, asks a server for
    /// a sign of life, and compares the master keys that were in use with those given. A file without tables is no state.
    ///
    /// # Errors
    /// [`StateError::Corrupt`], [`StateError::MasterKeyMissing`], or the database cannot be opened or does not answer.
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
                // A file without tables is whole, and holds no state.
                None if !sqlite::has_schema(pool).await? => return Ok(false),
                None => {}
            },
            #[cfg(feature = "postgres")]
            Database::Postgres(_) => self.ping().await?,
        }
        self.check_master_keys(keys).await.map(|()| true)
    }

    /// Ends all connections; operations fail from now on.
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
        // The pools would show the address of the database.
        f.write_str(match &self.database {
            Database::Sqlite(_) => "State(SQLite)",
            #[cfg(feature = "postgres")]
            Database::Postgres(_) => "State(PostgreSQL)",
        })
    }
}
