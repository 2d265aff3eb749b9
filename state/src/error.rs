use std::path::PathBuf;

use data_model::{Classify, ErrorCode, Timestamp};

use crate::names::KeyId;
use crate::random::RandomError;

/// Errors of opening, reading or writing the state.
///
/// No message contains a key, a password or the URL of a database.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The URL is not one of a PostgreSQL server.
    #[error("state.url is not the URL of a PostgreSQL server (postgres://user@host/database)")]
    Url,
    /// The program was built without PostgreSQL.
    #[error(
        "state.url is set, but this program was built without PostgreSQL: build it with `--features postgres`, or leave \
         state.url empty to keep the state in a local folder"
    )]
    NoPostgres,
    /// The folder or file of the state cannot be created or opened.
    #[error("cannot open {}", path.display())]
    Folder {
        /// Path of the folder or file.
        path: PathBuf,
        /// The operating system's error.
        #[source]
        source: std::io::Error,
    },
    /// A newer version of the program has changed the database.
    #[error("the state has schema version {found}, but this program supports at most {known}: use the newer program")]
    NewerSchema {
        /// Schema version of the database.
        found: i64,
        /// Newest schema version that this program supports.
        known: i64,
    },
    /// The schema cannot be migrated: a migration was changed, lost or left unfinished.
    #[error("the state's database schema cannot be migrated to the current version")]
    Schema(#[source] sqlx::migrate::MigrateError),
    /// The database does not respond before the timeout. The change may have been applied, and the call may be
    /// repeated.
    #[error("the state's database does not respond")]
    Unavailable(#[source] Option<sqlx::Error>),
    /// The database refused a statement.
    #[error("the state's database refused a statement")]
    Database(#[source] sqlx::Error),
    /// A row contains data that this program cannot parse.
    #[error("the state contains an invalid {what}")]
    Damaged {
        /// The data that cannot be parsed.
        what: &'static str,
    },
    /// The database file is damaged.
    #[error("the state's database is damaged: {found}")]
    Corrupt {
        /// The database's own description of the fault.
        found: String,
    },
    /// A dump can be loaded only into an empty state, and this state contains data.
    #[error("the state is not empty: table {table} has rows")]
    NotEmpty {
        /// A table that contains rows.
        table: &'static str,
    },
    /// The data is not a dump of a state, or is incomplete.
    #[error("the state's dump is damaged: {what}")]
    Dump {
        /// The fault in the dump.
        what: &'static str,
    },
    /// The dump file cannot be read or written.
    #[error("the state's dump cannot be read or written")]
    DumpFile(#[source] std::io::Error),
    /// The key does not exist, or the actor may not see it.
    #[error("there is no key {id}")]
    UnknownKey {
        /// The requested id.
        id: KeyId,
    },
    /// The key was revoked, or the grace period after its rotation has ended.
    #[error("the key {id} is not valid since {since}")]
    KeyOver {
        /// Id of the key.
        id: KeyId,
        /// Time since which the key is refused.
        since: Timestamp,
    },
    /// The key was restored from a backup and has not been confirmed yet.
    #[error("the key {id} was restored from a backup of {since} and is not confirmed")]
    KeyUnconfirmed {
        /// Id of the key.
        id: KeyId,
        /// Time of the backup.
        since: Timestamp,
    },
    /// The key was rotated before. Its replacement must be rotated instead.
    #[error("the key {id} was replaced by {by}: rotate {by} instead")]
    KeyReplaced {
        /// Id of the key.
        id: KeyId,
        /// Id of the key that replaced it.
        by: KeyId,
    },
    /// The state contains data sealed with a master key that was not given.
    #[error(
        "the state contains data that is sealed with master key {id}, which is not configured: add it after the current key in state.master_key"
    )]
    MasterKeyMissing {
        /// Id of the missing master key.
        id: String,
    },
    /// The operating system provides no random bytes.
    #[error("the operating system does not provide random bytes")]
    Random,
}

impl StateError {
    /// Returns true if the same call may succeed later without intervention.
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

/// Returns true for error codes after which the same statement may succeed.
///
/// SQLite: busy, locked and I/O errors, with their extended codes. PostgreSQL: lost connections (class 08), lack of
/// resources (53), a server that stops or starts (57P), and timeouts and deadlocks (57014, 55P03, 40001, 40P01).
fn is_transient_code(code: &str) -> bool {
    // PostgreSQL codes have five characters, and SQLite codes are numbers below 10,000.
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
