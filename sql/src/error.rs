use data_model::{Classify, ErrorCode, Retry};
use datafusion::error::DataFusionError;
use serde::{Deserialize, Serialize};

/// The reason why a statement has no answer. The words are for its sender: they say what to change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum SqlError {
    /// It is no statement that only reads, or too large to be read.
    #[error("{0}")]
    Refused(String),
    /// It cannot be understood, or fails over the rows that it reads.
    #[error("{0}")]
    Invalid(String),
    /// It needs more memory than all statements have together.
    #[error(
        "the statement needs more memory than there is for statements ({bytes_max} bytes): read fewer rows or columns, \
         filter before joining, or group by less"
    )]
    Memory {
        /// Memory of all statements.
        bytes_max: usize,
    },
    /// The statement's files on disk grew too large.
    #[error(
        "the statement needs more room on disk than there is for statements ({bytes_max} bytes): sort or join less"
    )]
    Disk {
        /// Room of all statements.
        bytes_max: u64,
    },
    /// It took too long.
    #[error("the statement took longer than {timeout_ms} ms: filter more, or ask for less at once")]
    Time {
        /// The limit.
        timeout_ms: u64,
    },
    /// It answers too much.
    #[error("the answer has more than {rows_max} rows or {bytes_max} bytes: add a limit, or ask in pieces")]
    Rows {
        /// Most rows.
        rows_max: usize,
        /// Most bytes.
        bytes_max: usize,
    },
    /// The moment that it asks for is not kept, or cannot be asked for here.
    #[error("{0}")]
    Moment(String),
    /// Too many others run and wait.
    #[error("as many statements run and wait as this server takes: try again in a moment")]
    Busy,
    /// There are no tables yet.
    #[error("there is nothing to read yet")]
    NotReady,
    /// The caller is not known.
    #[error("statements need a key that the operator allowed, in X-Service-Key or as a bearer token")]
    Anonymous,
    /// The caller is not allowed.
    #[error("this key may not send statements: the operator allows keys by sql.keys")]
    Forbidden,
    /// The caller was allowed when the statement began, and is not any more.
    #[error("the key was revoked, or is not allowed any more, while the statement ran")]
    Revoked,
    /// The caller asks too often.
    #[error("too many requests: wait, or ask for a key that may ask more")]
    Limited,
    /// An unforeseen failure.
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
    /// One word for programs and counters.
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

    /// True where the worker that answered it is not asked again.
    pub(crate) const fn wears_out(&self) -> bool {
        matches!(self, Self::Memory { .. } | Self::Time { .. } | Self::Internal)
    }

    /// The engine itself is at a loss.
    pub(crate) fn engine_failed() -> Self {
        Self::Invalid("the query engine cannot run this statement: write it otherwise".to_owned())
    }

    /// The meaning of the engine's error for the sender of the statement.
    pub(crate) fn of(error: &DataFusionError, memory_bytes_max: usize, spill_bytes_max: u64) -> Self {
        let root = error.find_root();
        if let DataFusionError::External(inner) = root
            && let Some(own) = inner.downcast_ref::<Self>()
        {
            return own.clone();
        }
        let text = root.strip_backtrace();
        // The writer of a spilled file reports the limit as an error of its own, which Arrow wraps.
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
                tracing::warn!(error = %text, "the query engine failed over a statement");
                Self::engine_failed()
            }
            DataFusionError::SQL(parser, _) => {
                let told = parser.to_string();
                let told = told.strip_prefix("sql parser error: ").unwrap_or(&told);
                Self::Invalid(shortened(&format!("the statement is not understood: {told}")))
            }
            _ => {
                let words = text.trim_start_matches("Error during planning: ");
                Self::Invalid(shortened(&words.replace("haat.public.", "").replace("'haat.", "'")))
            }
        }
    }
}

/// The engine's words name every field of wide tables; nobody reads more than this.
const WORDS_CHARS_MAX: usize = 600;

fn shortened(text: &str) -> String {
    match text.char_indices().nth(WORDS_CHARS_MAX) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
