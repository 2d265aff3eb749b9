/// The reason why nobody can be signed in at the provider. No message holds text of the provider's.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProviderError {
    /// The provider does not answer, or not in time.
    #[error("the provider does not answer")]
    Unavailable(#[source] Option<Box<dyn std::error::Error + Send + Sync>>),
    /// The provider's answer is none that may be trusted.
    #[error("the provider's answer is not taken: {0}")]
    Invalid(&'static str),
    /// The provider refused the code.
    #[error("the provider refuses the code: {0}")]
    Refused(String),
}

/// The reason why one request to the provider failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    /// It cannot be sent, or no answer came in time.
    #[error("no answer")]
    Failed(#[source] reqwest::Error),
    /// The answer is larger than anything that a provider has to say.
    #[error("the answer is too large")]
    TooLarge,
}
