use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use http::{HeaderMap, Method, StatusCode};
use url::Url;

use crate::address::Refusal;
use crate::config::{ConfigError, StorefrontConfig};
use crate::resolve::{GuardedResolver, Lookup, ResolveError};

/// One request to send.
#[derive(Debug, Clone)]
pub struct TransportRequest {
    /// GET, HEAD or POST.
    pub method: Method,
    /// The address; already judged by [`crate::address::check_url`].
    pub url: Url,
    /// All header fields.
    pub headers: HeaderMap,
    /// The body of a POST; empty with a GET.
    pub body: Bytes,
}

/// The head of an answer and its body as it comes in, still encoded.
pub struct TransportResponse {
    /// The status.
    pub status: StatusCode,
    /// All header fields.
    pub headers: HeaderMap,
    /// The body on the wire.
    pub body: BoxStream<'static, Result<Bytes, TransportError>>,
}

impl std::fmt::Debug for TransportResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Incoming")
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

/// The reason why an exchange failed.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The name resolved to nothing public.
    #[error("the address is refused")]
    Refused(#[source] Refusal),
    /// No connection.
    #[error("no connection")]
    Connect(#[source] Box<dyn Error + Send + Sync>),
    /// No connection in time.
    #[error("no connection in time")]
    ConnectTimeout,
    /// The body ended early.
    #[error("the body ended early")]
    Truncated,
    /// The answer has more header fields than are read.
    #[error("too many header fields")]
    Head,
    /// The connection broke, or what came was no HTTP.
    #[error("the connection broke or spoke no HTTP")]
    Broken(#[source] Box<dyn Error + Send + Sync>),
}

/// Sends one request once: follows nothing, decodes nothing, retries nothing that a store may have seen. The network, or what a test puts in its place.
#[async_trait]
pub trait Transport: Send + Sync + std::fmt::Debug {
    /// Sends it and returns once the head of the answer is there.
    ///
    /// # Errors
    /// [`TransportError`] when no head comes.
    async fn send(&self, request: TransportRequest) -> Result<TransportResponse, TransportError>;
}

/// Bytes that a store may send over HTTP/2 before anybody takes them.
const HTTP2_WINDOW_BYTES: u32 = 1 << 20;

/// The network.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    client: reqwest::Client,
}

impl Network {
    pub(crate) fn new(config: &StorefrontConfig, lookup: Arc<dyn Lookup>) -> Result<Self, ConfigError> {
        let builder = || {
            reqwest::Client::builder()
                .no_proxy()
                .no_gzip()
                .no_brotli()
                .no_zstd()
                .no_deflate()
                .referer(false)
                .redirect(reqwest::redirect::Policy::none())
                .retry(reqwest::retry::never())
                .connect_timeout(Duration::from_millis(config.connect_timeout_ms))
                .pool_idle_timeout(Duration::from_secs(30))
                .pool_max_idle_per_host(config.concurrency)
                .http1_max_headers(config.headers_max)
                .http2_max_header_list_size(64 << 10)
                // Bytes that are not asked for yet wait at the store, not in a buffer here.
                .http2_initial_stream_window_size(HTTP2_WINDOW_BYTES)
                .http2_initial_connection_window_size(HTTP2_WINDOW_BYTES)
                .tcp_nodelay(true)
                .dns_resolver(GuardedResolver::new(Arc::clone(&lookup), config.allow_loopback))
        };
        let client = match builder().build() {
            // A machine without root certificates can still serve its emulated stores; it cannot reach real ones.
            Err(error) if config.allow_loopback => {
                tracing::warn!(error = %error, "no TLS roots: only stores without TLS can be reached");
                builder().tls_certs_only([]).build()
            }
            built => built,
        };
        client.map(|client| Self { client }).map_err(ConfigError::Client)
    }
}

#[async_trait]
impl Transport for Network {
    async fn send(&self, request: TransportRequest) -> Result<TransportResponse, TransportError> {
        let mut outgoing = reqwest::Request::new(request.method, request.url);
        *outgoing.headers_mut() = request.headers;
        if !request.body.is_empty() {
            *outgoing.body_mut() = Some(request.body.into());
        }
        let mut answer = self.client.execute(outgoing).await.map_err(classify)?;
        let headers = std::mem::take(answer.headers_mut());
        let status = answer.status();
        let body = answer.bytes_stream().map(|chunk| chunk.map_err(classify)).boxed();
        Ok(TransportResponse { status, headers, body })
    }
}

/// Finds the cause that matters in the client's chain of errors. The URL is taken out: logs and errors name the host.
fn classify(error: reqwest::Error) -> TransportError {
    let error = error.without_url();
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    // The chain is as deep as the client's layers; the bound is against one that runs in a circle.
    for _ in 0..16 {
        let Some(current) = cause else { break };
        if let Some(ResolveError::Refused(reason)) = current.downcast_ref() {
            return TransportError::Refused(*reason);
        }
        if current
            .downcast_ref::<io::Error>()
            .is_some_and(|io| io.kind() == io::ErrorKind::UnexpectedEof)
        {
            return TransportError::Truncated;
        }
        cause = current.source();
    }
    match (error.is_connect(), error.is_timeout()) {
        (_, true) => TransportError::ConnectTimeout,
        (true, false) => TransportError::Connect(Box::new(error)),
        (false, false) => TransportError::Broken(Box::new(error)),
    }
}
