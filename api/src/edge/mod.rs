mod answer_by;
mod arrival;
mod cors;
mod description;
mod finish;
mod host;
mod linger;
mod open;
mod published;
mod routes;

use std::any::Any;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use axum::routing::future::RouteFuture;
use data_model::ErrorCode;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use tower::Service;
use tracing::Instrument;

pub use self::answer_by::AnswerBy;
use self::arrival::{Arrival, RefusalPace};
use self::cors::Cors;
pub use self::description::described;
use self::finish::FinishContext;
pub(crate) use self::host::HostFault;
use self::linger::Rest;
pub use self::open::OpenRouter;
pub(crate) use self::routes::RoutePattern;
use self::routes::{ConstantRoute, RouteFacts, Routes};
use crate::access::{Guard, GuardDecision, Prompt, RouteAccess, Shares};
use crate::body::BodyLimit;
use crate::{Asker, ClientNetwork, Problem, ProblemForm, RequestId, traces};

/// The limits of one server's edge.
#[derive(Debug, Clone)]
pub struct EdgeConfig {
    /// Maximum time for one response, in milliseconds.
    pub timeout_ms: u64,
    /// Maximum number of requests processed concurrently, after their bodies have arrived. Further requests get 503
    /// `overloaded`.
    pub in_flight_max: usize,
    /// Maximum size of a request body.
    pub body_bytes_max: usize,
    /// Maximum time until a request's body has arrived, in milliseconds.
    pub body_timeout_ms: u64,
    /// Maximum number of bodies that arrive concurrently. Further requests with a body get 503 `overloaded`.
    pub bodies_max: usize,
    /// Maximum number of bodies that arrive concurrently per caller and per client network. Further requests with a
    /// body get 429 `rate_limit`.
    pub bodies_per_client_max: usize,
    /// Maximum length of path and query, in bytes.
    pub uri_bytes_max: usize,
    /// Minimum size of a response that is compressed.
    pub compress_bytes_min: usize,
    /// Patterns of the routes that are served even under overload: probes and metrics.
    pub always_answered: Vec<&'static str>,
    /// Access check of the server.
    pub guard: Arc<Guard>,
    /// Origins whose pages may read every response, such as `https://shop.example`. Stored data is open to pages of any
    /// origin.
    pub cors_origins: Vec<HeaderValue>,
    /// True if clients reach the server over TLS: browsers are then told to always use it.
    pub is_https: bool,
}

impl Default for EdgeConfig {
    fn default() -> Self {
        Self {
            timeout_ms: 10_000,
            in_flight_max: 1024,
            body_bytes_max: 256 * 1024,
            body_timeout_ms: 5_000,
            bodies_max: 1024,
            bodies_per_client_max: 64,
            uri_bytes_max: 32 * 1024,
            compress_bytes_min: 1024,
            always_answered: vec!["/healthz", "/readyz", "/metrics"],
            guard: Arc::default(),
            cors_origins: Vec::new(),
            is_https: false,
        }
    }
}

/// HSTS value: one year, for this host only, because its subdomains are unknown here (RFC 6797).
const TLS_ALONE: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Layer between the server and every handler. In order: request id, checks of `Host` and request size, access and
/// limits, load shedding, time limit, panics, problem bodies, compression, headers, metrics and log. The edge is one
/// layer around the router instead of nine around each route, because each layer costs allocations and clones.
pub struct Edge {
    config: EdgeConfig,
    constants: Vec<ConstantRoute>,
    /// Access facts for the guard, by route pattern.
    access: BTreeMap<String, RouteAccess>,
    /// Problem formats other than the default, by route pattern.
    forms: BTreeMap<String, ProblemForm>,
}

/// A router inside the edge; cheap to clone.
#[derive(Clone)]
pub struct EdgeRouter {
    router: Router,
    shared: Arc<EdgeState>,
}

struct EdgeState {
    config: EdgeConfig,
    routes: Routes,
    in_flight: AtomicUsize,
    /// Slots for arriving bodies.
    arriving: Arc<Shares>,
    refusals: RefusalPace,
}

/// Processing slot of one request.
struct Place(Arc<EdgeState>);

impl EdgeState {
    /// Takes a slot. Also returns true if the slot is within the limit.
    fn place(this: &Arc<Self>) -> (Place, bool) {
        let others = this.in_flight.fetch_add(1, Ordering::Relaxed);
        (Place(Arc::clone(this)), others < this.config.in_flight_max)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Edge {
    /// Creates an edge with these limits.
    #[must_use]
    pub fn new(config: EdgeConfig) -> Self {
        Self {
            config,
            constants: Vec::new(),
            access: BTreeMap::new(),
            forms: BTreeMap::new(),
        }
    }

    /// Responds to GET and HEAD of `path` with `answer`, without the router and even under overload. `path` must be one
    /// of the router's patterns and have no parameters or query. Constant responses are for frequent requests that need
    /// no work, because the router would cost more than the response. Other methods go to the router. `answer` must not
    /// block.
    #[must_use]
    pub fn constant(
        mut self,
        path: &'static str,
        answer: impl Fn(&HeaderMap) -> Response + Send + Sync + 'static,
    ) -> Self {
        self.constants.push(ConstantRoute {
            path,
            answer: Box::new(answer),
        });
        self
    }

    /// Puts the edge around a router, and handles unknown routes and methods. `patterns` are the router's patterns,
    /// under which requests are counted. A route without a listed pattern counts as unmatched.
    pub fn around<'a>(self, router: Router, patterns: impl IntoIterator<Item = &'a str>) -> EdgeRouter {
        let router = router
            .fallback(async || Problem::new(ErrorCode::RouteNotFound))
            .method_not_allowed_fallback(async || Problem::new(ErrorCode::MethodNotAllowed));
        let (access, forms) = (self.access, self.forms);
        let routes = Routes::of(
            patterns,
            &self.config.always_answered,
            self.constants,
            |pattern| access.get(pattern).cloned().unwrap_or_default(),
            |pattern| forms.get(pattern).copied().unwrap_or_default(),
        );
        let shared = EdgeState {
            arriving: Shares::new(self.config.bodies_max, self.config.bodies_per_client_max),
            refusals: RefusalPace::default(),
            config: self.config,
            routes,
            in_flight: AtomicUsize::new(0),
        };
        EdgeRouter {
            router,
            shared: Arc::new(shared),
        }
    }
}

impl fmt::Debug for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Edge")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for EdgeRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EdgeRouter").finish_non_exhaustive()
    }
}

impl EdgeRouter {
    /// Handles one request without a connection, so the client's network is unknown. No handler runs before the future
    /// is polled.
    pub fn answer(&self, request: Request) -> impl Future<Output = Response> + Send + use<> {
        self.answer_from(None, request)
    }

    /// Handles one request from a connection of `peer`.
    pub fn answer_from(
        &self,
        peer: Option<IpAddr>,
        mut request: Request,
    ) -> impl Future<Output = Response> + Send + use<> {
        let started = Instant::now();
        let asked = FinishContext::of(&request);
        let rest = Rest::of(&mut request);
        let shared = Arc::clone(&self.shared);
        if let Some(uri) = without_slash(&shared.routes, request.uri()) {
            *request.uri_mut() = uri;
        }
        let place = shared.routes.find(request.uri().path());
        let route = shared.routes.at(place);
        let span = traces::request_span(&request, route.pattern.as_str(), asked.id.as_str());
        let config = &shared.config;
        let network = peer.map(|peer| config.guard.network(peer, request.headers()));
        let cors = Cors::of(request.method(), request.headers(), &route.access, &config.cors_origins);
        let way = if let Some(problem) = refusal(&request, config) {
            Way::Answered(problem.into_response(), None)
        } else if let Some(answered) = cors.preflight(request.method(), request.headers()) {
            Way::Answered(answered, None)
        } else {
            match config.guard.enter(&request, network, &route.access) {
                Prompt::Now(entered) => self.go_in(request, entered, place, network, &asked.id),
                Prompt::Later(entering) => Way::Waiting(entering, Box::new(request)),
            }
        };
        let traced = (!span.is_disabled()).then(|| span.clone());
        let edge = self.clone();
        let answering = async move {
            let route = shared.routes.at(place);
            let way = match way {
                // The future is boxed to save space in all other requests, because few requests wait here.
                Way::Waiting(entering, request) => {
                    Box::pin(edge.wait(entering, request, place, network, &asked.id)).await
                }
                way => way,
            };
            let (answered, entered) = match way {
                Way::Handled(inner, arrival, mut entered) => {
                    let answered = run(inner, &shared, arrival, route.always, &asked.id).await;
                    if let Some(entered) = entered.as_mut().filter(|_| route.access.costs_more) {
                        Box::pin(shared.config.guard.look_again(entered)).await;
                    }
                    (answered, entered)
                }
                Way::Answered(answered, entered) => (answered, entered),
                Way::Refused(refused, entered) => (Box::pin(arrival::refuse(refused, &shared)).await, entered),
                Way::Waiting(..) => (Problem::new(ErrorCode::Internal).into_response(), None),
            };
            let took = started.elapsed();
            // An overloaded server does not read the rest of a body.
            if rest.is_lent() && answered.status() != StatusCode::SERVICE_UNAVAILABLE {
                Box::pin(rest.drain()).await;
            }
            let mut response = asked.finish(answered, shared.config.compress_bytes_min, route).await;
            if let Some(entered) = entered {
                entered.tell(response.headers_mut());
            }
            cors.tell(response.headers_mut());
            if shared.config.is_https {
                let headers = response.headers_mut();
                headers.insert(header::STRICT_TRANSPORT_SECURITY, TLS_ALONE);
            }
            route.record(response.status(), took);
            if let Some(span) = traced {
                span.record("http.response.status_code", response.status().as_u16());
            }
            response
        };
        // Each poll would enter the span, which costs time even if the span is disabled.
        if span.is_disabled() {
            answering.left_future()
        } else {
            answering.instrument(span).right_future()
        }
    }

    /// Routes a request according to the guard's decision.
    fn go_in(
        &self,
        mut request: Request,
        entered: GuardDecision,
        place: usize,
        network: Option<ClientNetwork>,
        id: &RequestId,
    ) -> Way {
        let config = &self.shared.config;
        let route = self.shared.routes.at(place);
        let caller = match &entered.outcome {
            Ok(caller) => caller,
            Err(problem) => {
                let answered = problem.clone().into_response();
                return Way::Answered(answered, Some(entered));
            }
        };
        if route.access.counted {
            config.guard.count(caller, route.pattern.as_str());
        }
        let has_query = request.uri().query().is_some();
        if let Some(constant) = route.constant_for(request.method()).filter(|_| !has_query) {
            let answered = catch_unwind(AssertUnwindSafe(|| constant(request.headers())));
            let answered = answered.unwrap_or_else(|panic| panicked(panic.as_ref(), id));
            return Way::Answered(answered, Some(entered));
        }
        if let Some(known) = caller.known() {
            request.extensions_mut().insert(Arc::clone(known));
        }
        // Only requests that are no plain reads may contain several operations or query stores for the caller.
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let (caller, request_id) = (caller.clone(), id.clone());
            request.extensions_mut().insert(Asker { caller, request_id });
        }
        if let Some(network) = network.filter(|_| route.access.tells_network) {
            request.extensions_mut().insert(network);
        }
        hand_over(&mut request, route, config);
        let arrival = match Arrival::of(&mut request, caller, network, &self.shared, route.always) {
            Ok(arrival) => arrival,
            Err(problem) => return Way::Refused(problem, Some(entered)),
        };
        // The handler runs only when this future is polled.
        Way::Handled(self.router.clone().call(request), arrival, Some(entered))
    }

    /// Waits for the guard, at most for the time limit of a response.
    async fn wait(
        &self,
        entering: BoxFuture<'static, GuardDecision>,
        request: Box<Request>,
        place: usize,
        network: Option<ClientNetwork>,
        id: &RequestId,
    ) -> Way {
        let limit = Duration::from_millis(self.shared.config.timeout_ms);
        match tokio::time::timeout(limit, entering).await {
            Ok(entered) => self.go_in(*request, entered, place, network, id),
            Err(_) => Way::Answered(Problem::new(ErrorCode::NotReady).into_response(), None),
        }
    }
}

/// Returns the URI without the slash at the end of its path, if only that path has a route.
fn without_slash(routes: &Routes, uri: &Uri) -> Option<Uri> {
    let path = routes.without_slash(uri.path())?;
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(format!("{path}{query}").parse().ok()?);
    Uri::from_parts(parts).ok()
}

/// Next step for a request.
enum Way {
    /// A handler processes the request.
    Handled(RouteFuture<Infallible>, Option<Arc<Arrival>>, Option<GuardDecision>),
    Answered(Response, Option<GuardDecision>),
    /// No slot is free for the request's body.
    Refused(Problem, Option<GuardDecision>),
    /// The guard's decision must be awaited first.
    Waiting(BoxFuture<'static, GuardDecision>, Box<Request>),
}

/// Adds the extensions that extractors need. HEAD becomes GET, so that its headers equal those of GET (RFC 9110,
/// 9.3.2).
fn hand_over(request: &mut Request, route: &RouteFacts, config: &EdgeConfig) {
    if route.has_parameters {
        request.extensions_mut().insert(route.pattern.clone());
    }
    match *request.method() {
        Method::GET => {}
        Method::HEAD => *request.method_mut() = Method::GET,
        _ => {
            request.extensions_mut().insert(BodyLimit(config.body_bytes_max));
            request.extensions_mut().insert(AnswerBy::within(config.timeout_ms));
        }
    }
}

/// Returns the problem for a request that must be refused before any other check: without a valid `Host`, or with a URI
/// or stated body length above the limits. A body of unknown length is measured while it is read.
fn refusal(request: &Request, config: &EdgeConfig) -> Option<Problem> {
    if let Some(fault) = request.extensions().get::<HostFault>() {
        return Some(fault.problem());
    }
    let uri_bytes = request.uri().path_and_query().map_or(0, |whole| whole.as_str().len());
    let uri_bytes_max = config.uri_bytes_max;
    if uri_bytes > uri_bytes_max {
        // The list of error codes is fixed and has none for 414.
        let detail = format!("The URI is too long: path and query together may have at most {uri_bytes_max} bytes.");
        let problem = Problem::new(ErrorCode::PayloadTooLarge).with_status(StatusCode::URI_TOO_LONG);
        return Some(problem.detail(detail));
    }
    let stated = axum::body::HttpBody::size_hint(request.body()).lower();
    if usize::try_from(stated).map_or(true, |bytes| bytes > config.body_bytes_max) {
        return Some(crate::body::too_large(config.body_bytes_max));
    }
    None
}

async fn run(
    inner: impl Future<Output = Result<Response, Infallible>> + Send,
    shared: &Arc<EdgeState>,
    arrival: Option<Arc<Arrival>>,
    always: bool,
    id: &RequestId,
) -> Response {
    let timeout_ms = shared.config.timeout_ms;
    // A panic leaves no broken state, because shared state is immutable or behind atomics.
    let mut inner = pin!(AssertUnwindSafe(inner).catch_unwind());
    let (early, _place) = match &arrival {
        Some(arrival) => match arrival.during(inner.as_mut()).await {
            Ok(early) => (early, None),
            Err(problem) => return problem.into_response(),
        },
        None => {
            let (place, is_free) = EdgeState::place(shared);
            if !is_free && !always {
                return Problem::new(ErrorCode::Overloaded).into_response();
            }
            // Most handlers finish at the first poll. Only slower handlers need a timer.
            let early = match poll_fn(|context| Poll::Ready(inner.as_mut().poll(context))).await {
                Poll::Ready(answered) => Some(answered),
                Poll::Pending => None,
            };
            (early, Some(place))
        }
    };
    let answered = match early {
        Some(answered) => Ok(answered),
        None => tokio::time::timeout(Duration::from_millis(timeout_ms), inner).await,
    };
    match answered {
        Ok(Ok(Ok(response))) => response,
        Ok(Err(panic)) => panicked(panic.as_ref(), id),
        Err(_) => {
            tracing::warn!(request_id = id.as_str(), timeout_ms, "a request took too long");
            Problem::new(ErrorCode::Overloaded)
                .detail("The server could not finish the response in time.")
                .into_response()
        }
    }
}

/// Builds the response after a panic of the handler.
fn panicked(panic: &(dyn Any + Send), id: &RequestId) -> Response {
    let words = panic.downcast_ref::<&str>().copied();
    let words = words
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    tracing::error!(request_id = id.as_str(), panic = words, "a request handler panicked");
    Problem::new(ErrorCode::Internal).into_response()
}

#[cfg(test)]
mod tests;
