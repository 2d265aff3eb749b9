use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::response::Response;
use http::{HeaderMap, Method, StatusCode};
use metrics::{Counter, Histogram};

use crate::ProblemForm;
use crate::access::RouteAccess;

/// The label of requests that match no route; the paths themselves never become labels.
const UNMATCHED: &str = "unmatched";
/// The places of paths of no pattern: those that do not count, and those that do.
const UNMATCHED_PLACES: usize = 2;

/// The beginning of all paths whose requests count.
pub(super) const COUNTED: &str = "/v1/";

/// The pattern of a router that a path matches, and the facts about each pattern.
///
/// axum knows the pattern too, but through an allocation or two for each request, and only within a route.
pub(super) struct Routes {
    matcher: matchit::Router<usize>,
    /// The facts of paths without a pattern first, then those of the paths among them that count.
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
            // The router itself refuses patterns that cannot be; of one that is given twice the first counts.
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

    /// The place of what is known of a path's route, for [`Routes::at`].
    pub(super) fn find(&self, path: &str) -> usize {
        let unmatched = || usize::from(path.starts_with(COUNTED));
        self.matcher
            .at(path)
            .map_or_else(|_| unmatched(), |matched| *matched.value)
    }

    /// A path without the slash at its end, where it is one of a pattern only so.
    pub(super) fn without_slash<'p>(&self, path: &'p str) -> Option<&'p str> {
        let shorter = path.strip_suffix('/')?;
        (self.matcher.at(path).is_err() && self.matcher.at(shorter).is_ok()).then_some(shorter)
    }

    pub(super) fn at(&self, place: usize) -> &RouteFacts {
        &self.facts[place]
    }
}

/// The pattern of a request's route, where that has parameters.
#[derive(Debug, Clone)]
pub(crate) struct RoutePattern(Arc<str>);

impl RoutePattern {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Answers a request of which only the headers count.
pub(super) type Constant = Box<dyn Fn(&HeaderMap) -> Response + Send + Sync>;

/// A route whose answer is constant.
pub(super) struct ConstantRoute {
    pub(super) path: &'static str,
    pub(super) answer: Constant,
}

/// The facts of one route.
pub(super) struct RouteFacts {
    pub(super) pattern: RoutePattern,
    pub(super) has_parameters: bool,
    /// True where it is answered even under overload.
    pub(super) always: bool,
    pub(super) access: RouteAccess,
    pub(super) form: ProblemForm,
    constant: Option<Constant>,
    metrics: OnceLock<RouteMetrics>,
}

/// Metrics' handles, looked up once: at the first answer, for until then the route has none.
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

    /// The constant answer to a request of this method, given in the router's place.
    pub(super) fn constant_for(&self, method: &Method) -> Option<&Constant> {
        self.constant
            .as_ref()
            .filter(|_| matches!(*method, Method::GET | Method::HEAD))
    }

    /// Counts an answer.
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
