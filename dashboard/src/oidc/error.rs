/// Error of a sign-in at the provider. The messages contain no text of the provider.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProviderError {
    /// The provider does not respond in time.
    #[error("the provider does not answer")]
    Unavailable(#[source] Option<Box<dyn std::error::Error + Send + Sync>>),
    /// The provider's response is invalid.
    #[error("the provider's answer is not accepted: {0}")]
    Invalid(&'static str),
    /// The provider rejected the authorization code.
    #[error("the provider refuses the authorization code: {0}")]
    Refused(String),
}

/// Error of one request to the provider.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    /// The request cannot be sent, or no response arrived in time.
    #[error("no answer")]
    Failed(#[source] reqwest::Error),
    /// The response exceeds the size limit.
    #[error("the answer is too large")]
    TooLarge,
}
