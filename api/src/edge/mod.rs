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

/// Limits of what one server takes on.
#[derive(Debug, Clone)]
pub struct EdgeConfig {
    /// Longest time for one answer.
    pub timeout_ms: u64,
    /// Most requests worked on at the same time, once their bodies are in; one more is answered 503 `overloaded`.
    pub in_flight_max: usize,
    /// Largest request body.
    pub body_bytes_max: usize,
    /// Longest time in which a request's body must have arrived.
    pub body_timeout_ms: u64,
    /// Most bodies that arrive at the same time; the request of one more is answered 503 `overloaded`.
    pub bodies_max: usize,
    /// Most of them of one caller, and of one client network; the request of one more is answered 429 `rate_limit`.
    pub bodies_per_client_max: usize,
    /// Longest path and query.
    pub uri_bytes_max: usize,
    /// Shortest answer that is compressed.
    pub compress_bytes_min: usize,
    /// Route patterns that are answered even under overload: probes and metrics.
    pub always_answered: Vec<&'static str>,
    /// The access check.
    pub guard: Arc<Guard>,
    /// Origins whose pages may read every answer, such as `https://shop.example`; stored data is for pages of any origin.
    pub cors_origins: Vec<HeaderValue>,
    /// True where clients reach the server by TLS: browsers are then told never to come without it.
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

/// A year, for this host alone: what else lies below its domain is not known here (RFC 6797).
const TLS_ALONE: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// The layer between the server and every handler. In order: request id, `Host` and size of the request, access and
/// limits, load shedding, time limit, panics, the body of problems, compression, headers, metrics and log. One piece
/// that does the work of nine layers, around the router rather than each route, because each layer costs every request
/// allocations and clones.
pub struct Edge {
    config: EdgeConfig,
    constants: Vec<ConstantRoute>,
    /// By pattern: what the guard must know of it.
    access: BTreeMap<String, RouteAccess>,
    /// By pattern: how problems are written where they are not written as all others.
    forms: BTreeMap<String, ProblemForm>,
}

/// A router with the edge around it; cheap to clone.
#[derive(Clone)]
pub struct EdgeRouter {
    router: Router,
    shared: Arc<EdgeState>,
}

struct EdgeState {
    config: EdgeConfig,
    routes: Routes,
    in_flight: AtomicUsize,
    /// Places for bodies that arrive.
    arriving: Arc<Shares>,
    refusals: RefusalPace,
}

/// One request's place among those that are worked on.
struct Place(Arc<EdgeState>);

impl EdgeState {
    /// A place, and whether it is one of those that there are.
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
    /// Builds an edge with these limits.
    #[must_use]
    pub fn new(config: EdgeConfig) -> Self {
        Self {
            config,
            constants: Vec::new(),
            access: BTreeMap::new(),
            forms: BTreeMap::new(),
        }
    }

    /// GET and HEAD of `path`, one of the router's patterns and without parameters or a query, are answered by `answer` alone. It
    /// is for what is asked often and needs no work: the way through the router costs more than such an answer, and
    /// none is refused under overload. Other methods go to the router. `answer` must not block.
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

    /// Puts the edge around a router, and answers what has no route or no such method. `patterns` are the router's,
    /// under which requests are counted; what it has besides is counted as matching none.
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
    /// Answers one request that came from nowhere: no network is known. No handler runs before the answer is polled.
    pub fn answer(&self, request: Request) -> impl Future<Output = Response> + Send + use<> {
        self.answer_from(None, request)
    }

    /// Answers one request that came over a connection from `peer`.
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
                // Boxed: hardly any request waits here, and those that do not need no room for it.
                Way::Waiting(entering, request) => {
                    Box::pin(edge.wait(entering, request, place, network, &asked.id)).await
                }
                way => way,
            };
            let (answered, entered) = match way {
                Way::Handled(inner, arrival, entered) => {
                    (run(inner, &shared, arrival, route.always, &asked.id).await, entered)
                }
                Way::Answered(answered, entered) => (answered, entered),
                Way::Refused(refused, entered) => (Box::pin(arrival::refuse(refused, &shared)).await, entered),
                Way::Waiting(..) => (Problem::new(ErrorCode::Internal).into_response(), None),
            };
            let took = started.elapsed();
            // A server that has too much to do reads nothing besides.
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
        // To enter a span at every poll costs even when nobody looks at it.
        if span.is_disabled() {
            answering.left_future()
        } else {
            answering.instrument(span).right_future()
        }
    }

    /// The way of a request that the guard let in, or not.
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
        // Only what is no plain read may hold several requests in one, or ask in the caller's name.
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
        // The handler runs as this future is polled, not before.
        Way::Handled(self.router.clone().call(request), arrival, Some(entered))
    }

    /// Waits for the guard, no longer than for an answer.
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

/// The address without the slash at the end of its path, where there is a route of that path alone.
fn without_slash(routes: &Routes, uri: &Uri) -> Option<Uri> {
    let path = routes.without_slash(uri.path())?;
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(format!("{path}{query}").parse().ok()?);
    Uri::from_parts(parts).ok()
}

/// The handling of a request.
enum Way {
    /// A handler answers it.
    Handled(RouteFuture<Infallible>, Option<Arc<Arrival>>, Option<GuardDecision>),
    /// It is answered.
    Answered(Response, Option<GuardDecision>),
    /// There is no place for its body to arrive in.
    Refused(Problem, Option<GuardDecision>),
    /// The guard is asked first.
    Waiting(BoxFuture<'static, GuardDecision>, Box<Request>),
}

/// Gives the request what extractors look for. What asks for a head only is handled like GET, so that its answer's
/// headers are those of GET (RFC 9110, section 9.3.2).
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

/// The reason why a request is not looked at any further: no usable `Host`, or a URI or a stated length of the body
/// beyond the limits. A body of unstated length is measured while it is read.
fn refusal(request: &Request, config: &EdgeConfig) -> Option<Problem> {
    if let Some(fault) = request.extensions().get::<HostFault>() {
        return Some(fault.problem());
    }
    let uri_bytes = request.uri().path_and_query().map_or(0, |whole| whole.as_str().len());
    let uri_bytes_max = config.uri_bytes_max;
    if uri_bytes > uri_bytes_max {
        // The list of codes is closed and has none of its own for 414.
        let detail = format!("The URI is too long: path and query may have at most {uri_bytes_max} bytes.");
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
    // A handler that panics leaves nothing half-done that another request sees: shared state is immutable or behind
    // its own atomics.
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
            // Most handlers end at once; only for one that waits is a timer set.
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
                .detail("The answer took too long.")
                .into_response()
        }
    }
}

/// The answer in place of one whose maker panicked.
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
