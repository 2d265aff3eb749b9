/// The fault of a configuration of which no model can be made: it names the key.
#[derive(Debug, thiserror::Error)]
#[error("{key}.{fault}")]
pub struct ModelError {
    pub(crate) key: &'static str,
    pub(crate) fault: Fault,
}

/// A fault of it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The address is none, or one that must not be used.
    #[error("url: {0}")]
    Address(&'static str),
    /// No model, or one whose name cannot be sent.
    #[error("model: 1 to {} visible ASCII characters", crate::NAME_BYTES_MAX)]
    Name,
    /// Longer than anybody waits.
    #[error("timeout_ms: 1 to {max}")]
    Timeout { max: u64 },
    /// The bounds leave no answer, or no caller.
    #[error("tokens_max and concurrency_max: at least 1")]
    Bounds,
    /// The key cannot be sent in a header.
    #[error("api_key is not one line of ASCII")]
    Key,
    /// The client could not be made.
    #[error("url: no client can be made: {0}")]
    Client(reqwest::Error),
}

/// The reason for which the model gave nothing, this time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelFailure {
    /// It has just failed others, and is left alone for a while.
    Paused,
    /// It reads as many texts as it may already.
    Busy,
    /// It did not answer in time.
    Timeout,
    /// It could not be reached, or answered another status than 200.
    Unreachable,
    /// Its answer has not the form that was asked for.
    Invalid,
}

impl ModelFailure {
    /// As answers and metrics spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Paused => "paused",
            Self::Busy => "busy",
            Self::Timeout => "timeout",
            Self::Unreachable => "unreachable",
            Self::Invalid => "invalid",
        }
    }
}
