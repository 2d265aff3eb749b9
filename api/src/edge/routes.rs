use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::response::Response;
use http::{HeaderMap, Method, StatusCode};
use metrics::{Counter, Histogram};

use crate::ProblemForm;
use crate::access::RouteAccess;

/// Metrics label of requests that match no route, because request paths never become labels.
const UNMATCHED: &str = "unmatched";
/// Number of entries for unmatched paths: one for paths that count towards limits, one for the others.
const UNMATCHED_PLACES: usize = 2;

/// Prefix of all paths that count towards limits.
pub(super) const COUNTED: &str = "/v1/";

/// Table that maps a path to its route pattern and the facts about it.
///
/// axum knows the pattern too, but only within a route, and allocates once or twice per request.
pub(super) struct Routes {
    matcher: matchit::Router<usize>,
    /// Facts of unmatched paths that do not count, then of unmatched paths that count, then of each pattern.
    facts: Vec<RouteFacts>,
}

impl Routes {
    pub(super) fn of<'a>(
        patterns: impl IntoIterator<Item = &'a str>,
        always_answered: &[&str],
        constants: Vec<ConstantRoute>,
        access: impl Fn(&str) -> RouteAccess,
        form: impl Fn(&str) -> ProblemForm,
    ) -> Self {
        let mut routes = Self {
            matcher: matchit::Router::new(),
            facts: [false, true].map(RouteFacts::unmatched).into(),
        };
        for pattern in patterns {
            // The router itself refuses invalid patterns. The first of two equal patterns is used.
            if routes.matcher.insert(pattern, routes.facts.len()).is_ok() {
                let always = always_answered.contains(&pattern);
                let facts = RouteFacts::of(pattern, always, access(pattern));
                let form = form(pattern);
                routes.facts.push(RouteFacts { form, ..facts });
            }
        }
        for ConstantRoute { path, answer } in constants {
            let place = routes.find(path);
            routes.facts[place].constant = (place >= UNMATCHED_PLACES).then_some(answer);
        }
        routes
    }

    /// Returns the index of a path's facts for [`Routes::at`].
    pub(super) fn find(&self, path: &str) -> usize {
        let unmatched = || usize::from(path.starts_with(COUNTED));
        self.matcher
            .at(path)
            .map_or_else(|_| unmatched(), |matched| *matched.value)
    }

    /// Returns a path without its final slash, if only that path matches a pattern.
    pub(super) fn without_slash<'p>(&self, path: &'p str) -> Option<&'p str> {
        let shorter = path.strip_suffix('/')?;
        (self.matcher.at(path).is_err() && self.matcher.at(shorter).is_ok()).then_some(shorter)
    }

    pub(super) fn at(&self, place: usize) -> &RouteFacts {
        &self.facts[place]
    }
}

/// Pattern of a request's route, if the pattern has parameters.
#[derive(Debug, Clone)]
pub(crate) struct RoutePattern(Arc<str>);

impl RoutePattern {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Function that builds a response from the request headers alone.
pub(super) type Constant = Box<dyn Fn(&HeaderMap) -> Response + Send + Sync>;

pub(super) struct ConstantRoute {
    pub(super) path: &'static str,
    pub(super) answer: Constant,
}

pub(super) struct RouteFacts {
    pub(super) pattern: RoutePattern,
    pub(super) has_parameters: bool,
    /// True if the route is served even under overload.
    pub(super) always: bool,
    pub(super) access: RouteAccess,
    pub(super) form: ProblemForm,
    constant: Option<Constant>,
    metrics: OnceLock<RouteMetrics>,
}

/// Metrics of a route, looked up at its first response.
struct RouteMetrics {
    answers: [Counter; 5],
    seconds: Histogram,
}

impl RouteFacts {
    fn of(pattern: &str, always: bool, access: RouteAccess) -> Self {
        let counted = access.counted || pattern.starts_with(COUNTED);
        Self {
            access: RouteAccess { counted, ..access },
            pattern: RoutePattern(pattern.into()),
            has_parameters: pattern.contains('{'),
            always,
            form: ProblemForm::default(),
            constant: None,
            metrics: OnceLock::new(),
        }
    }

    fn unmatched(counted: bool) -> Self {
        let facts = Self::of(UNMATCHED, false, RouteAccess::default());
        let access = RouteAccess {
            counted,
            ..facts.access
        };
        Self { access, ..facts }
    }

    /// Returns the constant response for a method, which needs no router.
    pub(super) fn constant_for(&self, method: &Method) -> Option<&Constant> {
        self.constant
            .as_ref()
            .filter(|_| matches!(*method, Method::GET | Method::HEAD))
    }

    pub(super) fn record(&self, status: StatusCode, took: Duration) {
        let metrics = self.metrics.get_or_init(|| RouteMetrics::of(self.pattern.as_str()));
        let class = usize::from(status.as_u16() / 100).clamp(1, 5) - 1;
        metrics.answers[class].increment(1);
        metrics.seconds.record(took.as_secs_f64());
    }
}

impl RouteMetrics {
    fn of(pattern: &str) -> Self {
        let answers = ["1xx", "2xx", "3xx", "4xx", "5xx"]
            .map(|class| metrics::counter!("http_requests_total", "route" => pattern.to_owned(), "status" => class));
        let seconds = metrics::histogram!("http_request_duration_seconds", "route" => pattern.to_owned());
        Self { answers, seconds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_at_the_end_is_the_same_path_where_there_is_no_other() {
        let patterns = ["/", "/v1/mcp", "/v1/products/{ident}", "/docs/", "/docs"];
        let routes = Routes::of(
            patterns,
            &[],
            Vec::new(),
            |_| RouteAccess::default(),
            |_| ProblemForm::default(),
        );
        for (path, meant) in [
            ("/v1/mcp/", Some("/v1/mcp")),
            ("/v1/products/a/", Some("/v1/products/a")),
            ("/v1/mcp", None),
            ("/v1/mcp//", None),
            ("/docs/", None),
            ("/none/", None),
            ("/", None),
        ] {
            assert_eq!(routes.without_slash(path), meant, "{path}");
        }
    }
}
