use api::{MethodError, Problem};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;

use crate::operations::OperationError;
use crate::schema::{HealthDocument, ReadyDocument};
use crate::server::QueryServer;

/// Reports that the process is running.
///
/// `/readyz` reports if the server can serve requests; this probe does not. Restart a process that does not respond.
#[utoipa::path(
    get,
    path = "/healthz",
    operation_id = "health",
    tag = "Operations",
    responses(
        (status = 200, description = "It does.", body = HealthDocument, headers(("X-Request-Id" = String))),
        MethodError,
    )
)]
pub(crate) async fn health() -> Response {
    alive()
}

/// Returns the answer of [`health`].
pub(super) fn alive() -> Response {
    api::json(
        StatusCode::OK,
        &HealthDocument {
            status: "ok".to_owned(),
        },
    )
}

/// Reports that a release is open, so that requests can be answered, and that the server is not about to stop.
///
/// If the server is not ready, the status is 503, and load balancers send no requests. `stale` is true while a newer
/// release could not be read.
#[utoipa::path(
    get,
    path = "/readyz",
    operation_id = "ready",
    tag = "Operations",
    responses(
        (status = 200, description = "One is.", body = ReadyDocument, headers(("X-Request-Id" = String))),
        (status = 503, description = "Not yet.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("Retry-After" = i64), ("X-Request-Id" = String))),
        MethodError,
    )
)]
pub(crate) async fn ready(State(server): State<QueryServer>) -> Result<Response, Problem> {
    server.0.leaving.check()?;
    let release = server.release().ok_or(OperationError::NotReady)?;
    let document = ReadyDocument {
        status: "ready".to_owned(),
        release: release.to_string(),
        stale: server.is_stale(),
    };
    Ok(api::json(StatusCode::OK, &document))
}
