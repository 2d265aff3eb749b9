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

/// A request to send.
#[derive(Debug, Clone)]
pub struct TransportRequest {
    /// Request method: GET, HEAD or POST.
    pub method: Method,
    /// Address that has passed [`crate::address::check_url`].
    pub url: Url,
    /// All header fields of the request.
    pub headers: HeaderMap,
    /// Body of a POST, which is empty for a GET.
    pub body: Bytes,
}

/// Head of a response with its body as a stream, still encoded.
pub struct TransportResponse {
    /// HTTP status.
    pub status: StatusCode,
    /// All header fields of the response.
    pub headers: HeaderMap,
    /// Body as it is on the wire.
    pub body: BoxStream<'static, Result<Bytes, TransportError>>,
}

impl std::fmt::Debug for TransportResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Incoming")
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

/// Reason why an exchange failed.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The name resolved to no public address.
    #[error("the address is refused")]
    Refused(#[source] Refusal),
    /// Connecting failed.
    #[error("no connection")]
    Connect(#[source] Box<dyn Error + Send + Sync>),
    /// Connecting timed out.
    #[error("the connection timed out")]
    ConnectTimeout,
    /// The body ended before it was complete.
    #[error("the body ended early")]
    Truncated,
    /// The response has more header fields than the limit.
    #[error("too many header fields")]
    Head,
    /// The connection broke, or the response was not HTTP.
    #[error("the connection broke or the response was not HTTP")]
    Broken(#[source] Box<dyn Error + Send + Sync>),
}

/// Sends one request once. A transport follows no redirects, decodes nothing, and does not retry a request that a store
/// may have received. Tests replace the network implementation.
#[async_trait]
pub trait Transport: Send + Sync + std::fmt::Debug {
    /// Sends the request and returns when the head of the response has arrived.
    ///
    /// # Errors
    /// [`TransportError`] if no head arrives.
    async fn send(&self, request: TransportRequest) -> Result<TransportResponse, TransportError>;
}

/// Number of bytes that a store may send over HTTP/2 before they are read.
const HTTP2_WINDOW_BYTES: u32 = 1 << 20;

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
                // Unread bytes wait at the store, not in a buffer here.
                .http2_initial_stream_window_size(HTTP2_WINDOW_BYTES)
                .http2_initial_connection_window_size(HTTP2_WINDOW_BYTES)
                .tcp_nodelay(true)
                .dns_resolver(GuardedResolver::new(Arc::clone(&lookup), config.allow_loopback))
        };
        let client = match builder().build() {
            // A machine without root certificates can use its emulated stores, but cannot reach real ones.
            Err(error) if config.allow_loopback => {
                tracing::warn!(error = %error, "no TLS root certificates found: only stores without TLS can be reached");
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

/// Classifies an error by the relevant cause in the client's error chain. Logs and errors name only the host, so that
/// the URL is removed.
fn classify(error: reqwest::Error) -> TransportError {
    let error = error.without_url();
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    // The chain is only as deep as the client's layers. The bound protects against a cyclic chain.
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
