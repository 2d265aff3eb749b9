use std::future::Future;

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
#[cfg(feature = "postgres")]
use sqlx::postgres::{PgArguments, PgRow, Postgres};
use sqlx::query::{Query, QueryAs};
use sqlx::sqlite::{Sqlite, SqliteArguments, SqliteRow};
use sqlx::{AssertSqlSafe, FromRow, Transaction};

use super::{Database, STATEMENT_TIMEOUT, State};
use crate::error::StateError;

#[derive(Debug)]
pub(crate) enum Value {
    Text(Option<String>),
    Integer(Option<i64>),
    Bytes(Vec<u8>),
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl<const N: usize> From<&[u8; N]> for Value {
    fn from(bytes: &[u8; N]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
}

/// Implements the conversions of values that are texts or numbers, and of such values that may be null.
macro_rules! value_from {
    ($($value:ident($from:ty) $convert:expr,)*) => {$(
        impl From<$from> for Value {
            fn from(value: $from) -> Self {
                Self::$value(Some($convert(value)))
            }
        }

        impl From<Option<$from>> for Value {
            fn from(value: Option<$from>) -> Self {
                Self::$value(value.map($convert))
            }
        }
    )*};
}

value_from! {
    Text(&str) str::to_owned,
    Text(&String) String::clone,
    Text(String) std::convert::identity,
    Integer(i64) std::convert::identity,
    Integer(u32) i64::from,
    Integer(bool) i64::from,
    Integer(Timestamp) Timestamp::micros,
}

/// The parameters of a statement, in the order of their numbers.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::database::Value::from($value)),*]
    };
}
pub(crate) use values;

/// A row type that both databases support: a tuple of texts, numbers and bytes.
#[cfg(feature = "postgres")]
pub(crate) trait Row: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin {}

#[cfg(feature = "postgres")]
impl<T> Row for T where T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin {}

/// A row type that SQLite supports: a tuple of texts, numbers and bytes.
#[cfg(not(feature = "postgres"))]
pub(crate) trait Row: for<'r> FromRow<'r, SqliteRow> + Send + Unpin {}

#[cfg(not(feature = "postgres"))]
impl<T> Row for T where T: for<'r> FromRow<'r, SqliteRow> + Send + Unpin {}

macro_rules! bound {
    ($query:expr, $values:expr) => {{
        let mut query = $query;
        for value in $values {
            query = match value {
                Value::Text(text) => query.bind(text),
                Value::Integer(number) => query.bind(number),
                Value::Bytes(bytes) => query.bind(bytes),
            };
        }
        query
    }};
}

/// A write transaction. Dropping the transaction undoes all its statements.
#[derive(Debug)]
pub(crate) enum WriteTransaction {
    Sqlite(Transaction<'static, Sqlite>),
    #[cfg(feature = "postgres")]
    Postgres(Transaction<'static, Postgres>),
}

impl State {
    pub(crate) async fn rows<T: Row>(&self, sql: &'static str, values: Vec<Value>) -> Result<Vec<T>, StateError> {
        match &self.database {
            Database::Sqlite(pool) => {
                let query: QueryAs<'_, Sqlite, T, SqliteArguments> = bound!(sqlx::query_as(sql), values);
                in_time(query.fetch_all(pool)).await
            }
            #[cfg(feature = "postgres")]
            Database::Postgres(pool) => {
                let query: QueryAs<'_, Postgres, T, PgArguments> = bound!(sqlx::query_as(sql), values);
                in_time(query.fetch_all(pool)).await
            }
        }
    }

    #[boxed]
    pub(crate) async fn begin(&self) -> Result<WriteTransaction, StateError> {
        match &self.database {
            // SQLite's single write lock is taken at the start. A transaction that reads first and requests the lock
            // later fails if another transaction wrote in between, regardless of the timeout.
            Database::Sqlite(pool) => in_time(Box::pin(pool.begin_with("BEGIN IMMEDIATE")))
                .await
                .map(WriteTransaction::Sqlite),
            #[cfg(feature = "postgres")]
            Database::Postgres(pool) => in_time(Box::pin(pool.begin())).await.map(WriteTransaction::Postgres),
        }
    }
}

impl WriteTransaction {
    /// Runs one statement and returns the number of changed rows.
    pub(crate) async fn execute(&mut self, sql: &'static str, values: Vec<Value>) -> Result<u64, StateError> {
        match self {
            Self::Sqlite(writing) => {
                let query: Query<'_, Sqlite, SqliteArguments> = bound!(sqlx::query(sql), values);
                let done = in_time(query.execute(&mut **writing)).await?;
                Ok(done.rows_affected())
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(writing) => {
                let query: Query<'_, Postgres, PgArguments> = bound!(sqlx::query(sql), values);
                let done = in_time(query.execute(&mut **writing)).await?;
                Ok(done.rows_affected())
            }
        }
    }

    pub(crate) async fn rows<T: Row>(&mut self, sql: &'static str, values: Vec<Value>) -> Result<Vec<T>, StateError> {
        match self {
            Self::Sqlite(writing) => {
                let query: QueryAs<'_, Sqlite, T, SqliteArguments> = bound!(sqlx::query_as(sql), values);
                in_time(query.fetch_all(&mut **writing)).await
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(writing) => {
                let query: QueryAs<'_, Postgres, T, PgArguments> = bound!(sqlx::query_as(sql), values);
                in_time(query.fetch_all(&mut **writing)).await
            }
        }
    }

    /// Runs one statement that returns at most one row.
    pub(crate) async fn row<T: Row>(&mut self, sql: &'static str, values: Vec<Value>) -> Result<Option<T>, StateError> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    /// Runs one statement that is composed of schema names only, never of user input.
    pub(super) async fn run(&mut self, sql: String, values: Vec<Value>) -> Result<u64, StateError> {
        let sql = AssertSqlSafe(sql);
        match self {
            Self::Sqlite(writing) => {
                let query: Query<'_, Sqlite, SqliteArguments> = bound!(sqlx::query(sql), values);
                Ok(in_time(query.execute(&mut **writing)).await?.rows_affected())
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(writing) => {
                let query: Query<'_, Postgres, PgArguments> = bound!(sqlx::query(sql), values);
                Ok(in_time(query.execute(&mut **writing)).await?.rows_affected())
            }
        }
    }

    /// Returns true if a statement, composed of schema names only, has a row.
    pub(super) async fn any(&mut self, sql: String) -> Result<bool, StateError> {
        let sql = AssertSqlSafe(sql);
        match self {
            Self::Sqlite(writing) => Ok(in_time(sqlx::query(sql).fetch_optional(&mut **writing))
                .await?
                .is_some()),
            #[cfg(feature = "postgres")]
            Self::Postgres(writing) => Ok(in_time(sqlx::query(sql).fetch_optional(&mut **writing))
                .await?
                .is_some()),
        }
    }

    /// After [`StateError::Unavailable`], the changes may have been committed.
    pub(crate) async fn commit(self) -> Result<(), StateError> {
        match self {
            Self::Sqlite(writing) => in_time(writing.commit()).await,
            #[cfg(feature = "postgres")]
            Self::Postgres(writing) => in_time(writing.commit()).await,
        }
    }
}

/// The time limit protects callers from a database that hangs.
pub(super) async fn in_time<T>(statement: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, StateError> {
    match tokio::time::timeout(STATEMENT_TIMEOUT, statement).await {
        Ok(done) => done.map_err(StateError::from),
        Err(_) => Err(StateError::Unavailable(None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateTarget;

    #[tokio::test]
    async fn a_transaction_that_the_database_ended_by_itself_leaves_the_next_ones_alone() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::open(&StateTarget::Folder(folder.path().to_owned()))
            .await
            .unwrap();
        for _ in 0..8 {
            let mut writing = state.begin().await.unwrap();
            // SQLite ends a transaction automatically in the same way if the disk is full.
            writing.execute("ROLLBACK", Vec::new()).await.unwrap();
            drop(writing);
        }
        let writing = state.begin().await.unwrap();
        writing.commit().await.unwrap();
    }
}
