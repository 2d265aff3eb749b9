use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use http::HeaderMap;
use utoipa::openapi::OpenApi;

use super::published::complete;
use super::routes::ConstantRoute;
use super::{Edge, EdgeConfig, EdgeRouter};
use crate::access::{Guard, RouteAccess};
use crate::{Asset, LocalOperations, ProblemForm};

/// Path of the interface description.
const DOCUMENT_PATH: &str = "/openapi.json";

/// Routes of a server with all settings for an edge, but without the edge. If a program runs several servers on one
/// port, a single edge wraps all their routes.
///
/// Input: each server's router, patterns, constant responses and interface description. Output: an [`EdgeRouter`] for
/// all of them. If any server has a description, `/openapi.json` serves a merged one.
#[derive(Default)]
pub struct OpenRouter {
    router: Router,
    patterns: Vec<String>,
    constants: Vec<ConstantRoute>,
    document: Option<OpenApi>,
    /// Patterns that pages of any origin may read.
    any_origin: BTreeSet<String>,
    /// Patterns whose `POST` writes nothing.
    reads_by_post: BTreeSet<String>,
    /// Patterns that count towards limits like those under `/v1/`.
    counted: BTreeSet<String>,
    /// Patterns whose handlers get the client's network.
    tells_network: BTreeSet<String>,
    /// Patterns that are served even after a caller's daily limit is reached.
    past_limits: BTreeSet<String>,
    /// Patterns whose requests may cost more than one request.
    costs_more: BTreeSet<String>,
    /// Problem formats of patterns that differ from the default.
    forms: BTreeMap<String, ProblemForm>,
}

impl OpenRouter {
    /// Creates the routes of `router`; requests are counted under `patterns`.
    pub fn new(router: Router, patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            router,
            patterns: patterns.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// Adds a route.
    ///
    /// # Panics
    /// Panics if the router already has a route of this path and method, like axum's `route`.
    #[must_use]
    pub fn route(mut self, path: &str, route: MethodRouter) -> Self {
        self.router = self.router.route(path, route);
        self.patterns.push(path.to_owned());
        self
    }

    /// Sets the interface description of the routes.
    #[must_use]
    pub fn described(mut self, document: OpenApi) -> Self {
        match &mut self.document {
            Some(described) => described.merge(document),
            None => self.document = Some(document),
        }
        self
    }

    /// Allows pages of any origin to read the routes added so far, if they are under `/v1/` or `/.well-known/`.
    #[must_use]
    pub fn read_by_any_origin(mut self) -> Self {
        let is_read = |pattern: &&String| pattern.starts_with("/v1/") || pattern.starts_with("/.well-known/");
        let read = self.patterns.iter().filter(is_read);
        self.any_origin.extend(read.cloned());
        self
    }

    /// Allows pages of any origin to call those of the routes added so far that read by `POST`, because their input is
    /// too large for a query string.
    #[must_use]
    pub fn read_by_post_of_any_origin(mut self) -> Self {
        self.reads_by_post.extend(self.patterns.iter().cloned());
        self.read_by_any_origin()
    }

    /// Makes requests to the routes added so far count like those under `/v1/`.
    #[must_use]
    pub fn counted(mut self) -> Self {
        self.counted.extend(self.patterns.iter().cloned());
        self
    }

    /// Serves the routes added so far even when a limit of the caller is reached.
    #[must_use]
    pub fn answered_past_limits(mut self) -> Self {
        self.past_limits.extend(self.patterns.iter().cloned());
        self
    }

    /// States in responses of the routes added so far what is left of the limits after the cost of the request, which may
    /// be more than one request.
    #[must_use]
    pub fn costing_more(mut self) -> Self {
        self.costs_more.extend(self.patterns.iter().cloned());
        self
    }

    /// Adds the client's [`crate::ClientNetwork`] to the request extensions for handlers of the routes added so far, if
    /// it is known.
    #[must_use]
    pub fn telling_networks(mut self) -> Self {
        self.tells_network.extend(self.patterns.iter().cloned());
        self
    }

    /// Sets the problem format for the routes added so far below `prefix`. The edge's own problems use it too.
    #[must_use]
    pub fn problems_as(mut self, form: ProblemForm, prefix: &str) -> Self {
        let below = self.patterns.iter().filter(|pattern| pattern.starts_with(prefix));
        self.forms.extend(below.map(|pattern| (pattern.clone(), form)));
        self
    }

    /// See [`Edge::constant`].
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

    /// Merges two sets of routes. If both have a description of the same thing, such as the title, that of `self` is
    /// used.
    ///
    /// # Panics
    /// Panics if both have a route of the same path and method, like axum's `merge`.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.router = self.router.merge(other.router);
        self.patterns.extend(other.patterns);
        self.constants.extend(other.constants);
        self.any_origin.extend(other.any_origin);
        self.reads_by_post.extend(other.reads_by_post);
        self.counted.extend(other.counted);
        self.tells_network.extend(other.tells_network);
        self.past_limits.extend(other.past_limits);
        self.costs_more.extend(other.costs_more);
        self.forms.extend(other.forms);
        match other.document {
            Some(document) => self.described(document),
            None => self,
        }
    }

    /// Returns the description of the routes so far.
    #[must_use]
    pub fn document(&self) -> Option<&OpenApi> {
        self.document.as_ref()
    }

    /// Returns the operations described so far, for calls from within this process.
    #[must_use]
    pub fn operations(&self, guard: Arc<Guard>) -> LocalOperations {
        let items = self.document.iter().flat_map(|document| document.paths.paths.values());
        let operations = items.flat_map(|item| [&item.get, &item.post, &item.put, &item.patch, &item.delete]);
        let known = operations.flatten().filter_map(|one| one.operation_id.clone());
        LocalOperations::new(self.router.clone(), known.collect(), guard)
    }

    /// Puts an edge with these limits around the routes.
    pub fn edge(self, config: EdgeConfig) -> EdgeRouter {
        let Self {
            mut router,
            mut patterns,
            constants,
            document,
            any_origin,
            reads_by_post,
            counted,
            tells_network,
            past_limits,
            costs_more,
            forms,
        } = self;
        let mut access = BTreeMap::<String, RouteAccess>::new();
        if let Some(mut document) = document {
            access = complete(&mut document, &config.guard.keyed);
            // A generated document is always valid JSON.
            let document = Arc::new(Asset::new("application/json", document.to_json().unwrap_or_default()));
            let answer = async move |headers: HeaderMap| document.answer(&headers);
            router = router.route(DOCUMENT_PATH, get(answer));
            patterns.push(DOCUMENT_PATH.to_owned());
            access.entry(DOCUMENT_PATH.to_owned()).or_default().any_origin = true;
        }
        for pattern in any_origin {
            access.entry(pattern).or_default().any_origin = true;
        }
        for pattern in reads_by_post {
            access.entry(pattern).or_default().reads_by_post = true;
        }
        for pattern in counted {
            access.entry(pattern).or_default().counted = true;
        }
        for pattern in tells_network {
            access.entry(pattern).or_default().tells_network = true;
        }
        for pattern in past_limits {
            access.entry(pattern).or_default().past_limits = true;
        }
        for pattern in costs_more {
            access.entry(pattern).or_default().costs_more = true;
        }
        let edge = Edge {
            config,
            constants,
            access,
            forms,
        };
        edge.around(router, patterns.iter().map(String::as_str))
    }
}

impl fmt::Debug for OpenRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenRouter")
            .field("patterns", &self.patterns)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::sync::atomic::{AtomicU32, Ordering};

    use axum::body::{Body, to_bytes};
    use axum::extract::Request;
    use axum::routing::post;
    use serde_json::{Value, json};

    use super::*;
    use crate::{Allowance, Asker, Caller, Limit, Outcome, Problem, Prompt, Rule, Verdict, Violation};

    /// Admits every request, and counts what is left of ten.
    #[derive(Debug)]
    struct Ten(AtomicU32);

    impl Ten {
        fn take(&self, requests: u32) -> Verdict {
            Verdict {
                outcome: Outcome::Allowed,
                remaining: Some(self.0.fetch_sub(requests, Ordering::Relaxed) - requests),
                ..Verdict::UNLIMITED
            }
        }
    }

    impl Limit for Ten {
        fn admit(&self, _caller: &Caller) -> Prompt<Verdict> {
            Prompt::Now(self.take(1))
        }

        fn look(&self, _caller: &Caller) -> Prompt<Verdict> {
            Prompt::Now(self.take(0))
        }

        fn owe(&self, _caller: &Caller, requests: u32) -> Prompt<()> {
            self.take(requests);
            Prompt::Now(())
        }
    }

    #[tokio::test]
    async fn a_response_states_what_is_left_after_all_that_it_cost() {
        let one = NonZeroU32::MIN;
        let guard = Arc::new(Guard {
            limit: Some(Arc::new(Ten(AtomicU32::new(10)))),
            anonymous: Arc::new(Allowance::new(one, one, None)),
            ..Guard::default()
        });
        let owing = Arc::clone(&guard);
        let router = Router::new().route(
            "/v1/four",
            post(async move |asker: Asker| owing.owe(&asker.caller, 4).await),
        );
        let edge = OpenRouter::new(router, ["/v1/four"]).costing_more().edge(EdgeConfig {
            guard,
            ..EdgeConfig::default()
        });
        for left in ["\"burst\";r=6;t=0", "\"burst\";r=2;t=0"] {
            let response = edge
                .answer(Request::post("/v1/four").body(Body::empty()).unwrap())
                .await;
            assert_eq!(
                (
                    response.status().as_u16(),
                    response.headers()["ratelimit"].to_str().unwrap()
                ),
                (200, left)
            );
        }
    }

    #[tokio::test]
    async fn problems_of_some_routes_are_a_code_and_a_sentence_also_those_of_the_way_in() {
        let told = async || {
            let place = vec!["body".into(), "items".into(), 3.into()];
            Problem::invalid(vec![Violation::new(place, &Rule::Value("no"), None)])
        };
        let router = Router::new()
            .route("/v1/other/it", post(told))
            .route("/v1/it", post(told));
        let edge = OpenRouter::new(router, ["/v1/other/it", "/v1/it"])
            .problems_as(ProblemForm::CodeAndContent, "/v1/other")
            .edge(EdgeConfig::default());
        let sent = async |path: &str, bytes: usize| {
            let request = Request::post(path).body(Body::from(vec![b' '; bytes])).unwrap();
            let response = edge.answer(request).await;
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            (status, headers["content-type"].to_str().unwrap().to_owned(), body)
        };
        let json = "application/json".to_owned();
        assert_eq!(
            sent("/v1/other/it", 0).await,
            (
                422,
                json.clone(),
                json!({ "code": "validation", "content": "body.items.3: Value error, no" })
            )
        );
        let large = "The body is too large: it may have at most 262144 bytes.";
        assert_eq!(
            sent("/v1/other/it", 300_000).await,
            (
                413,
                json.clone(),
                json!({ "code": "payload_too_large", "content": large })
            )
        );
        let usual = sent("/v1/it", 0).await;
        assert_eq!((usual.0, usual.1), (422, json));
        assert!(usual.2["detail"].is_array(), "{}", usual.2);
        assert_eq!(sent("/v1/it", 300_000).await.1, "application/problem+json");
    }
}
