//! Client for a language model behind an OpenAI-compatible endpoint.
//!
//! Input: an operator's configuration, a task and a text. Output: the model's response in the requested format within a
//! time limit, or the reason why there is none.
//!
//! The text is sent as data in a separate message. Redirects are not followed, at most 64 KiB of a response are read,
//! and calls pause after repeated failures. Callers must verify the responses. The crate never reveals the key, the URL
//! or the response. Embedders use the address check, the HTTP client and the circuit breaker, too.

mod breaker;
mod config;
pub mod endpoint;
mod error;
mod wire;

pub use breaker::Breaker;
pub use config::{ModelConfig, TokensParameter};
pub use error::{ModelError, ModelFailure};
pub use wire::{Question, strict};

use std::time::{Duration, Instant};

use reqwest::{Client, StatusCode};
use tokio::sync::Semaphore;
use url::Url;

use self::endpoint::ClientError;
use self::error::Fault;

/// Maximum length of a response that is read, in bytes.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// Longest pause after failures.
const PAUSE_MAX: Duration = Duration::from_secs(160);
/// Maximum length of a model name, in bytes.
const NAME_BYTES_MAX: usize = 150;

/// Purpose for which a model is used.
#[derive(Debug, Clone, Copy)]
pub struct Purpose {
    /// Section of the configuration that error messages name, such as `discover.model`.
    pub key: &'static str,
    /// Name of the metric that counts outcomes by `read` and the names of [`ModelFailure`].
    pub counter: &'static str,
    /// Maximum configurable timeout, in milliseconds.
    pub timeout_ms_max: u64,
    /// `true` if callers wait while the model is at its concurrency limit. Otherwise they continue without the model.
    pub waits: bool,
}

/// A configured language model.
#[derive(Debug)]
pub struct Model {
    purpose: Purpose,
    url: Url,
    name: String,
    timeout: Duration,
    bound: wire::TokensBound,
    client: Client,
    places: Semaphore,
    breaker: Breaker,
}

impl Model {
    /// Creates the configured model. Returns `None` if none is configured. Does not contact the endpoint.
    ///
    /// # Errors
    /// [`ModelError`] if the configuration is invalid.
    pub fn of(config: &ModelConfig, purpose: Purpose) -> Result<Option<Self>, ModelError> {
        if config.url.is_empty() {
            return Ok(None);
        }
        let key = purpose.key;
        let model = Self::checked(config, purpose).map_err(|fault| ModelError { key, fault })?;
        Ok(Some(model))
    }

    fn checked(config: &ModelConfig, purpose: Purpose) -> Result<Self, Fault> {
        let url = endpoint::address(&config.url, config.allow_http, "chat/completions").map_err(Fault::Address)?;
        let is_name = (1..=NAME_BYTES_MAX).contains(&config.model.len())
            && config.model.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_name {
            return Err(Fault::Name);
        }
        let max = purpose.timeout_ms_max;
        if !(1..=max).contains(&config.timeout_ms) {
            return Err(Fault::Timeout { max });
        }
        if config.tokens_max == 0 || config.concurrency_max == 0 {
            return Err(Fault::Bounds);
        }
        let timeout = Duration::from_millis(config.timeout_ms);
        let client = endpoint::client(&config.api_key, timeout).map_err(|error| match error {
            ClientError::Key => Fault::Key,
            ClientError::Http(error) => Fault::Client(error),
        })?;
        Ok(Self {
            purpose,
            url,
            name: config.model.clone(),
            timeout,
            bound: wire::TokensBound {
                parameter: config.tokens_parameter,
                tokens_max: config.tokens_max,
            },
            client,
            places: Semaphore::new(config.concurrency_max.min(Semaphore::MAX_PERMITS)),
            breaker: Breaker::new(PAUSE_MAX),
        })
    }

    /// Returns the name of the model at its endpoint.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sends a question to the model and returns its answer within the time limit. `read` parses the answer and returns
    /// `None` if the format is wrong.
    ///
    /// # Errors
    /// [`ModelFailure`] with the reason why there is no answer.
    pub async fn ask<T>(&self, question: &Question<'_>, read: impl Fn(&str) -> Option<T>) -> Result<T, ModelFailure> {
        let asked = self.ask_bounded(question, read).await;
        let outcome = asked.as_ref().map_or_else(|why| why.as_str(), |_| "read");
        metrics::counter!(self.purpose.counter, "outcome" => outcome).increment(1);
        asked
    }

    async fn ask_bounded<T>(
        &self,
        question: &Question<'_>,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<T, ModelFailure> {
        let place = if self.purpose.waits {
            self.places.acquire().await.ok()
        } else {
            self.places.try_acquire().ok()
        };
        let Some(_place) = place else {
            return Err(ModelFailure::Busy);
        };
        if !self.breaker.lets_through(Instant::now()) {
            return Err(ModelFailure::Paused);
        }
        let asked = tokio::time::timeout(self.timeout, self.send(question)).await;
        let asked = asked.unwrap_or(Err(ModelFailure::Timeout));
        let asked = asked.and_then(|said| read(&said).ok_or(ModelFailure::Invalid));
        self.breaker.note(asked.is_ok(), Instant::now());
        if let Err(why) = &asked {
            tracing::warn!(purpose = self.purpose.key, model = %self.name, outcome = why.as_str(), "the language model could not process a text");
        }
        asked
    }

    async fn send(&self, question: &Question<'_>) -> Result<String, ModelFailure> {
        let body = wire::request(&self.name, question, self.bound);
        // The URL and the answer are not logged, because both may be private.
        let sent = self.client.post(self.url.clone()).body(body).send().await;
        let mut response = sent.map_err(|_| ModelFailure::Unreachable)?;
        if response.status() != StatusCode::OK {
            return Err(ModelFailure::Unreachable);
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|_| ModelFailure::Unreachable)? {
            if body.len() + chunk.len() > BODY_BYTES_MAX {
                return Err(ModelFailure::Invalid);
            }
            body.extend_from_slice(&chunk);
        }
        wire::content(&body).ok_or(ModelFailure::Invalid)
    }
}
