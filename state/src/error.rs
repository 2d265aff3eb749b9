use std::path::PathBuf;

use data_model::{Classify, ErrorCode, Timestamp};

use crate::names::KeyId;
use crate::random::RandomError;

/// The reason why the state cannot be opened, read or written.
///
/// No message holds a key, a password or the address of a database.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The address is none of a PostgreSQL server.
    #[error("state.url is not the address of a PostgreSQL server (postgres://user@host/database)")]
    Url,
    /// The program was built without PostgreSQL.
    #[error(
        "state.url is set, but this program was built without PostgreSQL: build it with `--features postgres`, or leave \
         state.url empty and keep the state in a folder"
    )]
    NoPostgres,
    /// The folder or the file of the state cannot be made or opened.
    #[error("cannot open {}", path.display())]
    Folder {
        /// The folder or the file.
        path: PathBuf,
        /// The operating system's words.
        #[source]
        source: std::io::Error,
    },
    /// A newer version of the program has changed the database.
    #[error("the state has schema {found}, this program knows {known} at most: use the newer program")]
    NewerSchema {
        /// The schema of the database.
        found: i64,
        /// The newest schema that this program knows.
        known: i64,
    },
    /// The schema is not what this program made: a migration was changed, lost or left half done.
    #[error("the schema of the state cannot be brought up to date")]
    Schema(#[source] sqlx::migrate::MigrateError),
    /// The database does not answer, or not in time. Whether a change was made is unknown; the same call may be made again.
    #[error("the database of the state does not answer")]
    Unavailable(#[source] Option<sqlx::Error>),
    /// The database refused a statement.
    #[error("the database of the state refused")]
    Database(#[source] sqlx::Error),
    /// A row holds what this program cannot read.
    #[error("the state holds a {what} that cannot be read")]
    Damaged {
        /// The thing that cannot be read.
        what: &'static str,
    },
    /// The file of the database is damaged.
    #[error("the database of the state is damaged: {found}")]
    Corrupt {
        /// The fault that the database found, in its own words.
        found: String,
    },
    /// The state was to be filled from a dump, and holds something already.
    #[error("the state is not empty: {table} has rows")]
    NotEmpty {
        /// A table with rows.
        table: &'static str,
    },
    /// The dump of a state is none, or not a whole one.
    #[error("the dump of the state is damaged: {what}")]
    Dump {
        /// The fault in it.
        what: &'static str,
    },
    /// The file of a dump cannot be read or written.
    #[error("the dump of the state cannot be read or written")]
    DumpFile(#[source] std::io::Error),
    /// No such key, or one that the actor may not see.
    #[error("there is no key {id}")]
    UnknownKey {
        /// The id that was asked for.
        id: KeyId,
    },
    /// The key is over: it was revoked, or it ended after a rotation.
    #[error("the key {id} is over since {since}")]
    KeyOver {
        /// The key.
        id: KeyId,
        /// Since when it is refused.
        since: Timestamp,
    },
    /// The key came back from a backup, and nobody has said yet that it is still to be taken.
    #[error("the key {id} came back from a backup of {since}, and is not confirmed")]
    KeyUnconfirmed {
        /// The key.
        id: KeyId,
        /// The moment of the backup.
        since: Timestamp,
    },
    /// The key was rotated before, and the key that replaced it is the one to rotate now.
    #[error("the key {id} was replaced by {by}: rotate that one")]
    KeyReplaced {
        /// The key.
        id: KeyId,
        /// The key that replaced it.
        by: KeyId,
    },
    /// Something was sealed with a master key that is not among those given.
    #[error(
        "the state was used with master key {id}, which is not among those given: put it behind the current one in state.master_key"
    )]
    MasterKeyMissing {
        /// The id of the key that is missing.
        id: String,
    },
    /// The operating system gives no random bytes.
    #[error("the operating system gives no random bytes")]
    Random,
}

impl StateError {
    /// True where the same call can succeed later, without anybody's doing.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }
}

impl From<RandomError> for StateError {
    fn from(RandomError: RandomError) -> Self {
        Self::Random
    }
}

impl Classify for StateError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Unavailable(_) => ErrorCode::NotReady,
            _ => ErrorCode::Internal,
        }
    }
}

impl From<sqlx::Error> for StateError {
    fn from(error: sqlx::Error) -> Self {
        let gone = match &error {
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => true,
            sqlx::Error::Database(told) => told.code().is_some_and(|code| is_transient_code(&code)),
            _ => false,
        };
        if gone {
            Self::Unavailable(Some(error))
        } else {
            Self::Database(error)
        }
    }
}

/// Codes after which the same statement may succeed: of SQLite, busy and locked (with their extended forms) and errors of
/// I/O; of PostgreSQL, lost connections (class 08), lack of resources (53), a server that stops or starts (57P), and
/// timeouts and deadlocks (57014, 55P03, 40001, 40P01).
fn is_transient_code(code: &str) -> bool {
    // Those of PostgreSQL have five characters; those of SQLite are numbers below 10,000.
    if code.len() == 5 {
        return ["08", "53", "57P", "57014", "55P03", "40001", "40P01"]
            .iter()
            .any(|start| code.starts_with(start));
    }
    let primary = code.parse::<u32>().unwrap_or_default() & 0xff;
    matches!(primary, 5 | 6 | 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_and_lost_databases_are_told_from_statements_that_fail() {
        for code in [
            "5", "6", "261", "517", "10", "08006", "53300", "57P01", "57014", "40P01",
        ] {
            assert!(is_transient_code(code), "{code}");
        }
        for code in ["1", "19", "2067", "1555", "23505", "42P01", "42601", "22001"] {
            assert!(!is_transient_code(code), "{code}");
        }
    }
}
