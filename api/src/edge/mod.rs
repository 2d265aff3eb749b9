mod finish;
mod host;
mod observe;

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{MatchedPath, Request};
use axum::response::{IntoResponse, Response};
use data_model::ErrorCode;
use futures::FutureExt;
use http::Method;
use tokio::sync::Semaphore;
use tower::{Layer, Service};
use tracing::Instrument;

use self::finish::Asked;
pub(crate) use self::host::HostFault;
use self::observe::RouteMetrics;
use crate::{Problem, RequestId, traces};

/// Limits of what one server takes on.
#[derive(Debug, Clone)]
pub struct EdgeConfig {
    /// Longest time for one answer.
    pub timeout_ms: u64,
    /// Most requests worked on at the same time; one more is answered 503 `overloaded`.
    pub in_flight_max: usize,
    /// Largest request body.
    pub body_bytes_max: usize,
    /// Longest path and query.
    pub uri_bytes_max: usize,
    /// Shortest answer that is compressed.
    pub compress_bytes_min: usize,
    /// Route patterns that are answered even under overload: probes and metrics.
    pub always_answered: Vec<&'static str>,
}

impl Default for EdgeConfig {
    fn default() -> Self {
        Self {
            timeout_ms: 10_000,
            in_flight_max: 1024,
            body_bytes_max: 256 * 1024,
            uri_bytes_max: 8 * 1024,
            compress_bytes_min: 1024,
            always_answered: vec!["/healthz", "/readyz", "/metrics"],
        }
    }
}

/// How large a body the extractors take; the edge puts it into each request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyLimit(pub(crate) usize);

impl BodyLimit {
    pub(crate) const DEFAULT: usize = 256 * 1024;
}

/// What lies between the server and every handler: one layer that does the work of nine, because each layer of a
/// stack costs an allocation and a clone for each request. In order: request id, `Host` and size of the request, load shedding,
/// time limit, panics, the body of problems, compression, headers, metrics and log.
#[derive(Debug, Clone)]
pub struct Edge(Arc<Limits>);

#[derive(Debug)]
struct Limits {
    config: EdgeConfig,
    in_flight: Semaphore,
}

impl Edge {
    /// Builds an edge with these limits.
    #[must_use]
    pub fn new(config: EdgeConfig) -> Self {
        let in_flight = Semaphore::new(config.in_flight_max.min(Semaphore::MAX_PERMITS));
        Self(Arc::new(Limits { config, in_flight }))
    }

    /// Puts the edge around every route, and answers what has no route or no such method.
    pub fn around(self, router: Router) -> Router {
        router
            .fallback(async || Problem::new(ErrorCode::RouteNotFound))
            .method_not_allowed_fallback(async || Problem::new(ErrorCode::MethodNotAllowed))
            .layer(self)
    }
}

impl<S> Layer<S> for Edge {
    type Service = EdgeService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        EdgeService {
            inner,
            limits: Arc::clone(&self.0),
            metrics: Arc::default(),
        }
    }
}

/// One route with the edge around it.
#[derive(Debug, Clone)]
pub struct EdgeService<S> {
    inner: S,
    limits: Arc<Limits>,
    /// axum layers each route by itself, so the first request tells which one this is.
    metrics: Arc<OnceLock<RouteMetrics>>,
}

type Answering = Pin<Box<dyn Future<Output = Result<Response, std::convert::Infallible>> + Send>>;

impl<S> Service<Request> for EdgeService<S>
where
    S: Service<Request, Error = std::convert::Infallible> + Send + 'static,
    S::Response: IntoResponse,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = std::convert::Infallible;
    type Future = Answering;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let started = Instant::now();
        let asked = Asked::of(&request);
        let limits = Arc::clone(&self.limits);
        let metrics = Arc::clone(&self.metrics);
        let pattern = request.extensions().get::<MatchedPath>().cloned();
        let pattern_text = pattern.as_ref().map_or(observe::UNMATCHED, MatchedPath::as_str);
        metrics.get_or_init(|| RouteMetrics::of(pattern_text));
        let always = limits.config.always_answered.contains(&pattern_text);
        let refused = refusal(&request, &limits.config);
        let span = traces::request_span(&request, pattern_text, asked.id.as_str());
        if refused.is_none() && !matches!(*request.method(), Method::GET | Method::HEAD) {
            request.extensions_mut().insert(BodyLimit(limits.config.body_bytes_max));
        }
        let inner = match refused {
            Some(problem) => Err(problem),
            // The handler runs as this future is polled, not before.
            None => Ok(self.inner.call(request)),
        };
        let traced = (!span.is_disabled()).then(|| span.clone());
        let answering = async move {
            let answered = match inner {
                Ok(inner) => run(inner, &limits, always, &asked.id).await,
                Err(problem) => problem.into_response(),
            };
            let response = asked.finish(answered, limits.config.compress_bytes_min).await;
            if let Some(route) = metrics.get() {
                route.record(response.status(), started.elapsed());
            }
            if let Some(span) = traced {
                span.record("http.response.status_code", response.status().as_u16());
            }
            Ok(response)
        };
        // To enter a span at every poll costs even when nobody looks at it.
        if span.is_disabled() {
            Box::pin(answering)
        } else {
            Box::pin(answering.instrument(span))
        }
    }
}

/// Why a request is not looked at any further: no usable `Host`, or a URI or a stated length of the body beyond the
/// limits. A body of unstated length is measured while it is read.
fn refusal(request: &Request, config: &EdgeConfig) -> Option<Problem> {
    if let Some(fault) = request.extensions().get::<HostFault>() {
        return Some(fault.problem());
    }
    let uri_bytes = request.uri().path_and_query().map_or(0, |whole| whole.as_str().len());
    let uri_bytes_max = config.uri_bytes_max;
    if uri_bytes > uri_bytes_max {
        // The list of codes is closed and has none for 414; what is too large is told in words.
        let detail = format!("The URI is too long: path and query may have at most {uri_bytes_max} bytes.");
        return Some(Problem::new(ErrorCode::PayloadTooLarge).detail(detail));
    }
    let stated = axum::body::HttpBody::size_hint(request.body()).lower();
    if usize::try_from(stated).map_or(true, |bytes| bytes > config.body_bytes_max) {
        return Some(crate::body::too_large(config.body_bytes_max));
    }
    None
}

async fn run<R: IntoResponse>(
    inner: impl Future<Output = Result<R, std::convert::Infallible>> + Send,
    limits: &Limits,
    always: bool,
    id: &RequestId,
) -> Response {
    let permit = limits.in_flight.try_acquire().ok();
    if permit.is_none() && !always {
        return Problem::new(ErrorCode::Overloaded).into_response();
    }
    let timeout = Duration::from_millis(limits.config.timeout_ms);
    // A handler that panics leaves nothing half-done that another request sees: shared state is immutable or behind
    // its own atomics.
    match tokio::time::timeout(timeout, AssertUnwindSafe(inner).catch_unwind()).await {
        Ok(Ok(Ok(response))) => response.into_response(),
        Ok(Err(panic)) => {
            let words = panic.downcast_ref::<&str>().copied();
            let words = words
                .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
                .unwrap_or("no message");
            tracing::error!(request_id = id.as_str(), panic = words, "a request handler panicked");
            Problem::new(ErrorCode::Internal).into_response()
        }
        Err(_) => {
            tracing::warn!(
                request_id = id.as_str(),
                timeout_ms = limits.config.timeout_ms,
                "a request took too long"
            );
            Problem::new(ErrorCode::Overloaded)
                .detail("The answer took too long.")
                .into_response()
        }
    }
}

#[cfg(test)]
mod tests;
