//! The language model that reads sentences, behind an OpenAI-compatible endpoint.

mod address;
mod breaker;
mod wire;

use std::time::{Duration, Instant};

use data_model::Secret;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, StatusCode, redirect};
use tokio::sync::Semaphore;
use url::Url;

use self::breaker::Breaker;
use crate::config::{ModelConfig, TokensParameter};
use crate::intent::{Reply, ReplyError};

/// Longest answer of the endpoint that is read.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// Longest time that anybody may wait for the model: what serves the answer has limits of its own.
const TIMEOUT_MS_MAX: u64 = 8_000;
/// Longest name of a model.
const NAME_BYTES_MAX: usize = 150;

/// Why no model can be made of a configuration.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The address is none, or one that must not be used.
    #[error("discover.model.url: {0}")]
    Address(&'static str),
    /// No model, or one whose name cannot be told.
    #[error("discover.model.model: 1 to {NAME_BYTES_MAX} visible ASCII characters")]
    Name,
    /// Longer than a person waits.
    #[error("discover.model.timeout_ms: 1 to {TIMEOUT_MS_MAX}")]
    Timeout,
    /// Nothing could be answered, or nobody could ask.
    #[error("discover.model.tokens_max and concurrency_max: at least 1")]
    Bounds,
    /// The key cannot be sent in a header.
    #[error("discover.model.api_key is not one line of ASCII")]
    Key,
    /// The client could not be made.
    #[error("the model's client: {0}")]
    Client(#[source] reqwest::Error),
}

/// Why the model gave nothing, this time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// None is configured.
    NotConfigured,
    /// It has just failed others, and is left alone for a while.
    Paused,
    /// It reads as many sentences as it may already.
    Busy,
    /// It did not answer in time.
    Timeout,
    /// It could not be reached, or answered another status than 200.
    Unreachable,
    /// What it answered is no intent.
    Invalid,
    /// Nothing in the catalogue is what it made of the sentence.
    NothingFound,
}

impl Unread {
    /// As answers spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotConfigured => "not_configured",
            Self::Paused => "paused",
            Self::Busy => "busy",
            Self::Timeout => "timeout",
            Self::Unreachable => "unreachable",
            Self::Invalid => "invalid",
            Self::NothingFound => "nothing_found",
        }
    }
}

/// A language model.
#[derive(Debug)]
pub struct Model {
    url: Url,
    name: String,
    timeout: Duration,
    tokens: (TokensParameter, u32),
    client: Client,
    places: Semaphore,
    breaker: Breaker,
}

impl Model {
    /// The model that is configured; `None` where none is. The endpoint itself is not asked.
    ///
    /// # Errors
    /// [`ModelError`], with what is wrong with the configuration.
    pub fn of(config: &ModelConfig) -> Result<Option<Self>, ModelError> {
        if config.url.is_empty() {
            return Ok(None);
        }
        let url = address::of(&config.url, config.allow_http)?;
        let is_name = (1..=NAME_BYTES_MAX).contains(&config.model.len())
            && config.model.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_name {
            return Err(ModelError::Name);
        }
        if !(1..=TIMEOUT_MS_MAX).contains(&config.timeout_ms) {
            return Err(ModelError::Timeout);
        }
        if config.tokens_max == 0 || config.concurrency_max == 0 {
            return Err(ModelError::Bounds);
        }
        let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        if !config.api_key.is_empty() {
            let key = Secret::new(&config.api_key);
            let bearer = HeaderValue::try_from(format!("Bearer {}", key.expose()));
            let mut bearer = bearer.map_err(|_| ModelError::Key)?;
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        let timeout = Duration::from_millis(config.timeout_ms);
        let client = Client::builder()
            .default_headers(headers)
            .redirect(redirect::Policy::none())
            .no_proxy()
            .connect_timeout(timeout)
            .build()
            .map_err(ModelError::Client)?;
        Ok(Some(Self {
            url,
            name: config.model.clone(),
            timeout,
            tokens: (config.tokens_parameter, config.tokens_max),
            client,
            places: Semaphore::new(config.concurrency_max.min(Semaphore::MAX_PERMITS)),
            breaker: Breaker::default(),
        }))
    }

    /// What it is called at its endpoint.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the model makes of a sentence, within its time.
    ///
    /// # Errors
    /// [`Unread`], with why there is nothing.
    pub async fn read(&self, sentence: &str) -> Result<Reply, Unread> {
        let read = self.read_bounded(sentence).await;
        let outcome = read.as_ref().map_or_else(|why| why.as_str(), |_| "read");
        metrics::counter!("discover_model_total", "outcome" => outcome).increment(1);
        read
    }

    async fn read_bounded(&self, sentence: &str) -> Result<Reply, Unread> {
        let Ok(_place) = self.places.try_acquire() else {
            return Err(Unread::Busy);
        };
        if !self.breaker.lets_through(Instant::now()) {
            return Err(Unread::Paused);
        }
        let read = tokio::time::timeout(self.timeout, self.ask(sentence)).await;
        let read = read.unwrap_or(Err(Unread::Timeout));
        self.breaker.note(read.is_ok(), Instant::now());
        if let Err(why) = &read {
            tracing::warn!(model = %self.name, outcome = why.as_str(), "the model did not read a sentence");
        }
        read
    }

    async fn ask(&self, sentence: &str) -> Result<Reply, Unread> {
        let body = wire::request(&self.name, sentence, self.tokens);
        // Neither the address nor what was answered is told: both may be private.
        let sent = self.client.post(self.url.clone()).body(body).send().await;
        let mut response = sent.map_err(|_| Unread::Unreachable)?;
        if response.status() != StatusCode::OK {
            return Err(Unread::Unreachable);
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|_| Unread::Unreachable)? {
            if body.len() + chunk.len() > BODY_BYTES_MAX {
                return Err(Unread::Invalid);
            }
            body.extend_from_slice(&chunk);
        }
        let said = wire::content(&body).ok_or(Unread::Invalid)?;
        Reply::read(&said).map_err(|ReplyError| Unread::Invalid)
    }
}
