//! Uses an embedding model on another server.

mod wire;

use std::time::{Duration, Instant};

use data_embedding::{DIMENSIONS_MAX, DocumentText, EmbedError, Embedder, EmbedderId, Vector};
use data_model::Secret;
use language_model::Breaker;
use language_model::endpoint::{self, ClientError};
use reqwest::header::RETRY_AFTER;
use reqwest::{Client, Response, StatusCode};
use tokio::runtime::Handle;
use url::Url;

const BATCH: usize = 64;
const TRIES_MAX: u32 = 5;
/// Wait before the first retry, in milliseconds. The wait doubles with every further retry.
const WAIT_MS: u64 = 500;
/// Maximum wait between two attempts, even if the server requests a longer wait.
const WAIT_MS_MAX: u64 = 30_000;
/// Pause of queries after several failures in a row.
const PAUSE: Duration = Duration::from_secs(5);
/// Maximum length of a text for the model, in bytes. Product texts are shorter, and a model truncates texts that are
/// too long for it.
const TEXT_BYTES_MAX: usize = 4_096;

/// URL and name of the model, with its settings.
#[derive(Debug, Clone)]
pub struct EndpointConfig {
    /// Base URL of the API, to which `embeddings` is appended, such as `https://api.openai.com/v1` or
    /// `http://127.0.0.1:11434/v1`.
    pub url: Url,
    /// Name of the model at the endpoint.
    pub model: String,
    /// API key, sent as `Authorization: Bearer`.
    pub api_key: Option<Secret>,
    /// Number of components of the model's vectors.
    pub dimensions: usize,
    /// `true` to request that number of components from a model that can shorten its vectors.
    pub shorten: bool,
    /// `true` to allow plain `http` to other machines.
    pub allow_http: bool,
    /// Timeout for the vector of a query. The search then continues without meaning.
    pub query_timeout_ms: u64,
    /// Timeout for the vectors of a batch of documents.
    pub documents_timeout_ms: u64,
}

/// Reason why the configuration of an endpoint is invalid.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The URL is invalid or not allowed.
    #[error("the endpoint's address: {0}")]
    Address(&'static str),
    /// The model name is missing or cannot be recorded.
    #[error("the endpoint's model must have 1 to 150 visible ASCII characters")]
    Model,
    /// The number of components is not supported.
    #[error("the endpoint's dimensions must be between 1 and {DIMENSIONS_MAX}")]
    Dimensions,
    /// The API key cannot be sent in a header.
    #[error("the endpoint's key must be one line of ASCII")]
    Key,
    /// The HTTP client could not be created.
    #[error("the endpoint's client: {0}")]
    Client(#[source] reqwest::Error),
}

/// A model behind OpenAI's embeddings API (<https://platform.openai.com/docs/api-reference/embeddings/create>), which
/// many other servers also offer.
///
/// The operator chooses the URL, which may be on this machine. Redirects are not followed. Two URLs with a model of the
/// same name are the same embedder, so that a model can move.
#[derive(Debug)]
pub struct Endpoint {
    id: EmbedderId,
    config: EndpointConfig,
    url: Url,
    client: Client,
    runtime: Handle,
    breaker: Breaker,
}

struct Refusal {
    error: EmbedError,
    /// Earliest time for a retry. The outer `None` means that a retry cannot succeed.
    again: Option<Option<Duration>>,
}

impl Endpoint {
    /// Creates an endpoint whose requests run on `runtime`. The endpoint must not be called from that runtime's
    /// threads.
    ///
    /// # Errors
    /// [`EndpointError`] if the configuration is invalid. The service is not contacted.
    pub fn new(config: EndpointConfig, runtime: Handle) -> Result<Self, EndpointError> {
        let url = endpoint::address(config.url.as_str(), config.allow_http, "embeddings");
        let url = url.map_err(EndpointError::Address)?;
        if config.model.is_empty() || config.model.len() > 150 {
            return Err(EndpointError::Model);
        }
        if !(1..=DIMENSIONS_MAX).contains(&config.dimensions) {
            return Err(EndpointError::Dimensions);
        }
        let id = format!("endpoint:{}:{}", config.model, config.dimensions);
        let id = EmbedderId::try_from(id).map_err(|_| EndpointError::Model)?;
        let key = config.api_key.as_ref().map_or("", Secret::expose);
        let timeout = Duration::from_millis(config.query_timeout_ms.max(1));
        let client = endpoint::client(key, timeout).map_err(|error| match error {
            ClientError::Key => EndpointError::Key,
            ClientError::Http(error) => EndpointError::Client(error),
        })?;
        Ok(Self {
            id,
            config,
            url,
            client,
            runtime,
            breaker: Breaker::new(PAUSE),
        })
    }

    /// The vectors are in the order of the texts.
    async fn ask(&self, texts: &[&str], timeout_ms: u64) -> Result<Vec<Option<Vector>>, Refusal> {
        let dimensions = self.config.dimensions;
        let body = wire::request(&self.config.model, texts, self.config.shorten.then_some(dimensions));
        let request = self
            .client
            .post(self.url.clone())
            .timeout(Duration::from_millis(timeout_ms));
        let mut response = request.body(body).send().await.map_err(unreachable)?;
        if response.status() != StatusCode::OK {
            return Err(refused(&response));
        }
        let mut body = Vec::new();
        let bytes_max = wire::answer_bytes_max(texts.len(), dimensions);
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if body.len() + chunk.len() > bytes_max {
                return Err(wrong(format!("the response has more than {bytes_max} bytes")));
            }
            body.extend_from_slice(&chunk);
        }
        wire::answer(&body, texts.len(), dimensions).map_err(wrong)
    }

    /// Repeats [`Endpoint::ask`] after temporary errors.
    async fn insist(&self, texts: &[&str]) -> Result<Vec<Option<Vector>>, EmbedError> {
        let mut wait_ms = WAIT_MS;
        for _ in 1..TRIES_MAX {
            let refusal = match self.ask(texts, self.config.documents_timeout_ms).await {
                Ok(vectors) => return Ok(vectors),
                Err(refusal) => refusal,
            };
            let Some(asked) = refusal.again else {
                return Err(refusal.error);
            };
            let wait = asked.unwrap_or_default().max(Duration::from_millis(wait_ms));
            tracing::warn!(error = %refusal.error, wait_ms = wait.as_millis(), "embedding the documents is retried");
            tokio::time::sleep(wait.min(Duration::from_millis(WAIT_MS_MAX))).await;
            wait_ms *= 2;
        }
        let last = self.ask(texts, self.config.documents_timeout_ms).await;
        last.map_err(|refusal| refusal.error)
    }
}

impl Embedder for Endpoint {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.config.dimensions
    }

    fn waits(&self) -> bool {
        true
    }

    fn embed_query(&self, text: &str) -> Result<Option<Vector>, EmbedError> {
        let text = beginning(text);
        if text.is_empty() {
            return Ok(None);
        }
        if !self.breaker.lets_through(Instant::now()) {
            return Err(EmbedError::Unreachable("requests are paused after a failure".into()));
        }
        let asked = self.runtime.block_on(self.ask(&[text], self.config.query_timeout_ms));
        self.breaker.note(asked.is_ok(), Instant::now());
        let vectors = asked.map_err(|refusal| refusal.error)?;
        Ok(vectors.into_iter().next().flatten())
    }

    fn embed_documents(&self, documents: &[DocumentText]) -> Result<Vec<Option<Vector>>, EmbedError> {
        let texts: Vec<String> = documents.iter().map(DocumentText::joined).collect();
        let mut vectors = vec![None; texts.len()];
        // Some servers reject empty texts, which have no meaning.
        let said = texts.iter().map(|text| beginning(text)).enumerate();
        let said: Vec<(usize, &str)> = said.filter(|(_, text)| !text.is_empty()).collect();
        for batch in said.chunks(BATCH) {
            let texts: Vec<&str> = batch.iter().map(|(_, text)| *text).collect();
            let answered = self.runtime.block_on(self.insist(&texts))?;
            for ((at, _), vector) in batch.iter().zip(answered) {
                if let Some(place) = vectors.get_mut(*at) {
                    *place = vector;
                }
            }
        }
        Ok(vectors)
    }
}

fn beginning(text: &str) -> &str {
    let text = text.trim();
    &text[..text.floor_char_boundary(TEXT_BYTES_MAX)]
}

fn unreachable(error: reqwest::Error) -> Refusal {
    // The URL may be private, and the operator knows it.
    let error = error.without_url();
    Refusal {
        error: EmbedError::Unreachable(error.to_string()),
        again: Some(None),
    }
}

fn wrong(what: String) -> Refusal {
    Refusal {
        error: EmbedError::Answer(what),
        again: None,
    }
}

/// Interprets a status other than 200. The body is ignored, because it may contain the text of the request.
fn refused(response: &Response) -> Refusal {
    let status = response.status();
    let passing =
        status.is_server_error() || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
    let after = response
        .headers()
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok());
    let after = after.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
    Refusal {
        error: EmbedError::Unreachable(format!("status {}", status.as_u16())),
        again: passing.then_some(after),
    }
}
