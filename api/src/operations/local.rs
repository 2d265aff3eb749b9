use std::collections::BTreeSet;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use data_model::ErrorCode;
use futures::FutureExt;
use http::{HeaderValue, header};
use http_body_util::BodyExt;
use tower::Service;

use super::{Asker, CallOperation, OperationAnswer, OperationCall};
use crate::access::Guard;
use crate::{Problem, request_id};

/// Operations of this process's own routes, called below the edge. Extractors, rules and errors are the same as over
/// REST.
///
/// Another server, if configured, handles operations that the routes do not have.
#[derive(Clone)]
pub struct LocalOperations {
    router: Router,
    known: Arc<BTreeSet<String>>,
    guard: Arc<Guard>,
    elsewhere: Option<Arc<dyn CallOperation>>,
}

impl LocalOperations {
    pub(crate) fn new(router: Router, known: BTreeSet<String>, guard: Arc<Guard>) -> Self {
        let router = router
            .fallback(async || Problem::new(ErrorCode::RouteNotFound))
            .method_not_allowed_fallback(async || Problem::new(ErrorCode::MethodNotAllowed));
        Self {
            router,
            known: Arc::new(known),
            guard,
            elsewhere: None,
        }
    }

    /// Passes operations that are not among these routes to `elsewhere`.
    #[must_use]
    pub fn or(self, elsewhere: Arc<dyn CallOperation>) -> Self {
        Self {
            elsewhere: Some(elsewhere),
            ..self
        }
    }

    /// Calls a route. A panic leaves no broken state for other requests.
    async fn answered(&self, request: Request, asker: &Asker) -> OperationAnswer {
        let mut router = self.router.clone();
        let answering = AssertUnwindSafe(async move { router.call(request).await }).catch_unwind();
        let Ok(Ok(mut response)) = answering.await else {
            let request_id = asker.request_id.as_str();
            tracing::error!(request_id, "the handler of an operation panicked");
            return OperationAnswer::problem(Problem::new(ErrorCode::Internal), asker);
        };
        if let Some(problem) = response.extensions_mut().remove::<Problem>() {
            return OperationAnswer::problem(problem, asker);
        }
        read(response, asker).await
    }
}

#[async_trait]
impl CallOperation for LocalOperations {
    async fn call(&self, call: OperationCall) -> OperationAnswer {
        if let Err(problem) = self.guard.check(&call.asker.caller, &call.operation_id) {
            return OperationAnswer::problem(problem, &call.asker);
        }
        match &self.elsewhere {
            Some(elsewhere) if !self.known.contains(call.operation_id.as_ref()) => elsewhere.call(call).await,
            _ => match request(&call) {
                Ok(request) => self.answered(request, &call.asker).await,
                Err(problem) => OperationAnswer::problem(problem, &call.asker),
            },
        }
    }
}

/// Builds the request that REST would have after its edge.
fn request(call: &OperationCall) -> Result<Request, Problem> {
    let mut request = Request::builder()
        .method(call.method.clone())
        .uri(call.target())
        .body(call.body.clone().map_or_else(Body::empty, Body::from))
        .map_err(|_| Problem::new(ErrorCode::RouteNotFound))?;
    let headers = request.headers_mut();
    headers.insert(request_id::HEADER, call.asker.request_id.clone().into_header());
    if call.body.is_some() {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    if let Some(key) = &call.idempotency_key {
        headers.insert(crate::IDEMPOTENCY_KEY, key.clone());
    }
    let extensions = request.extensions_mut();
    if let Some(known) = call.asker.caller.known() {
        extensions.insert(Arc::clone(known));
    }
    extensions.insert(call.asker.clone());
    Ok(request)
}

async fn read(response: Response, asker: &Asker) -> OperationAnswer {
    let (parts, body) = response.into_parts();
    match body.collect().await {
        Ok(whole) => OperationAnswer::told(parts.status, &parts.headers, whole.to_bytes()),
        Err(error) => {
            tracing::error!(%error, "the response of an operation ended early");
            OperationAnswer::problem(Problem::new(ErrorCode::Internal), asker)
        }
    }
}

impl fmt::Debug for LocalOperations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalOperations")
            .field("known", &self.known)
            .field("elsewhere", &self.elsewhere)
            .finish_non_exhaustive()
    }
}
