/// Error: the configuration of a model is invalid. Names the configuration key.
#[derive(Debug, thiserror::Error)]
#[error("{key}.{fault}")]
pub struct ModelError {
    pub(crate) key: &'static str,
    pub(crate) fault: Fault,
}

/// Fault in the configuration of a model.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The URL is invalid or not allowed.
    #[error("url: {0}")]
    Address(&'static str),
    /// The model name is missing or cannot be sent.
    #[error("model: must have 1 to {} visible ASCII characters", crate::NAME_BYTES_MAX)]
    Name,
    #[error("timeout_ms: must be between 1 and {max}")]
    Timeout { max: u64 },
    /// The limits allow no answer or no caller.
    #[error("tokens_max and concurrency_max: must be at least 1")]
    Bounds,
    /// The API key cannot be sent in a header.
    #[error("api_key: must be one line of ASCII")]
    Key,
    /// The HTTP client could not be created.
    #[error("url: the HTTP client cannot be created: {0}")]
    Client(reqwest::Error),
}

data_model::named! {
    /// Reason why a call to the model returned nothing.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ModelFailure {
        /// Calls are paused because of recent failures.
        Paused = "paused",
        /// The model already reads its maximum number of texts.
        Busy = "busy",
        /// The model did not respond within the time limit.
        Timeout = "timeout",
        /// The endpoint could not be reached, or returned a status other than 200.
        Unreachable = "unreachable",
        /// The answer does not have the requested format.
        Invalid = "invalid",
    }
}
