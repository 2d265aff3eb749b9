use data_model::{Classify, ErrorCode, Retry};
use datafusion::error::DataFusionError;
use serde::{Deserialize, Serialize};

/// Error of a statement. The message tells the sender what to change in the statement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum SqlError {
    /// The statement does more than read, or is too large to be parsed.
    #[error("{0}")]
    Refused(String),
    /// The statement cannot be parsed or planned, or fails on the rows that it reads.
    #[error("{0}")]
    Invalid(String),
    /// The statement needs more memory than its worker may use.
    #[error(
        "the statement needs more than the {bytes_max} bytes of memory that are available for statements: read fewer \
         rows or columns, filter before joining, or use fewer groups"
    )]
    Memory {
        /// Maximum memory of the worker, in bytes.
        bytes_max: usize,
    },
    /// The statement's temporary files became too large.
    #[error(
        "the statement needs more than the {bytes_max} bytes of disk space that are available for statements: sort or \
         join fewer rows"
    )]
    Disk {
        /// Maximum size of the worker's temporary files, in bytes.
        bytes_max: u64,
    },
    /// The statement exceeded its time limit.
    #[error("the statement took longer than {timeout_ms} ms: filter more, or request less data")]
    Time {
        /// Time limit, in milliseconds.
        timeout_ms: u64,
    },
    /// The answer has too many rows or bytes.
    #[error("the answer has more than {rows_max} rows or {bytes_max} bytes: add a limit, or split the statement")]
    Rows {
        /// Maximum number of rows.
        rows_max: usize,
        /// Maximum number of bytes.
        bytes_max: usize,
    },
    /// The requested point in time is not available.
    #[error("{0}")]
    Moment(String),
    /// Too many other statements are running and waiting.
    #[error("the server already runs and queues its maximum number of statements: try again in a moment")]
    Busy,
    /// No tables are loaded yet.
    #[error("no tables are loaded yet: try again in a moment")]
    NotReady,
    /// The caller is not authenticated.
    #[error("statements need a key that the operator has allowed: send it in X-Service-Key or as a bearer token")]
    Anonymous,
    /// The caller may not send statements.
    #[error("this key may not send statements: the operator can allow it in sql.keys")]
    Forbidden,
    /// The caller's permission was revoked while the statement ran.
    #[error("the key was revoked, or lost its permission, while the statement ran")]
    Revoked,
    /// The caller sends too many requests.
    #[error("too many requests: wait, or request a key with a higher limit")]
    Limited,
    /// An unexpected error occurred.
    #[error("the statement could not be run")]
    Internal,
}

impl Classify for SqlError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Refused(_)
            | Self::Invalid(_)
            | Self::Memory { .. }
            | Self::Disk { .. }
            | Self::Time { .. }
            | Self::Rows { .. }
            | Self::Moment(_) => ErrorCode::Validation,
            Self::Busy => ErrorCode::Overloaded,
            Self::NotReady => ErrorCode::NotReady,
            Self::Anonymous => ErrorCode::MissingCredentials,
            Self::Forbidden | Self::Revoked => ErrorCode::Forbidden,
            Self::Limited => ErrorCode::RateLimit,
            Self::Internal => ErrorCode::Internal,
        }
    }

    fn retry(&self) -> Retry {
        match self {
            Self::Busy | Self::NotReady => Retry::After(std::time::Duration::from_secs(1)),
            _ => Retry::Never,
        }
    }
}

impl SqlError {
    /// Returns a one-word reason for clients and metrics.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Refused(_) => "refused",
            Self::Invalid(_) => "invalid",
            Self::Memory { .. } => "memory",
            Self::Disk { .. } => "disk",
            Self::Time { .. } => "time",
            Self::Rows { .. } => "rows",
            Self::Moment(_) => "as_of",
            Self::Busy => "busy",
            Self::NotReady => "not_ready",
            Self::Anonymous => "anonymous",
            Self::Forbidden => "forbidden",
            Self::Revoked => "revoked",
            Self::Limited => "limited",
            Self::Internal => "internal",
        }
    }

    /// True if the worker that reported this error must not be reused.
    pub(crate) const fn wears_out(&self) -> bool {
        matches!(self, Self::Memory { .. } | Self::Time { .. } | Self::Internal)
    }

    /// Returns the error for a failure or panic of the query engine.
    pub(crate) fn engine_failed() -> Self {
        Self::Invalid("the query engine cannot run this statement: rewrite the statement".to_owned())
    }

    /// Translates an error of the query engine for the sender of the statement.
    pub(crate) fn of(error: &DataFusionError, memory_bytes_max: usize, spill_bytes_max: u64) -> Self {
        let root = error.find_root();
        if let DataFusionError::External(inner) = root
            && let Some(own) = inner.downcast_ref::<Self>()
        {
            return own.clone();
        }
        let text = root.strip_backtrace();
        // The writer of temporary files reports an exceeded limit as text inside an Arrow error.
        if text.contains("exceeded the allowable limit") {
            return Self::Disk {
                bytes_max: spill_bytes_max,
            };
        }
        match root {
            DataFusionError::ResourcesExhausted(told) if told.contains("disk") => Self::Disk {
                bytes_max: spill_bytes_max,
            },
            DataFusionError::ResourcesExhausted(_) => Self::Memory {
                bytes_max: memory_bytes_max,
            },
            DataFusionError::IoError(_) | DataFusionError::ObjectStore(_) | DataFusionError::External(_) => {
                tracing::error!(error = %text, "a statement failed");
                Self::Internal
            }
            DataFusionError::Internal(_) => {
                tracing::warn!(error = %text, "the query engine failed to run a statement");
                Self::engine_failed()
            }
            DataFusionError::SQL(parser, _) => {
                let told = parser.to_string();
                let told = told.strip_prefix("sql parser error: ").unwrap_or(&told);
                Self::Invalid(shortened(&format!("the statement cannot be parsed: {told}")))
            }
            _ => {
                let words = text.trim_start_matches("Error during planning: ");
                Self::Invalid(shortened(&words.replace("haat.public.", "").replace("'haat.", "'")))
            }
        }
    }
}

/// Maximum length of an error message in characters. Engine errors about wide tables list every column.
const WORDS_CHARS_MAX: usize = 600;

fn shortened(text: &str) -> String {
    match text.char_indices().nth(WORDS_CHARS_MAX) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
