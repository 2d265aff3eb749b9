use api::{MethodError, Problem};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde_json::json;

use crate::gateway::LiveGateway;

/// Liveness probe: confirms that the process responds to requests.
///
/// The probe does not check that other requests would succeed; `/readyz` does. A process that does not respond should
/// be restarted.
#[utoipa::path(
    get,
    path = "/healthz",
    operation_id = "health",
    tag = "Operations",
    responses(
        (status = 200, description = "It does.", headers(("X-Request-Id" = String))),
        MethodError,
    )
)]
pub(crate) async fn health() -> Response {
    api::json(StatusCode::OK, &json!({ "status": "ok" }))
}

/// Readiness probe: confirms that the catalogue can be queried and that the server is not about to stop.
///
/// If one of these conditions is not met, the response is 503, and a load balancer should send no requests.
#[utoipa::path(
    get,
    path = "/readyz",
    operation_id = "ready",
    tag = "Operations",
    responses(
        (status = 200, description = "It can.", headers(("X-Request-Id" = String))),
        (status = 503, description = "Not yet.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("Retry-After" = i64), ("X-Request-Id" = String))),
        MethodError,
    )
)]
pub(crate) async fn ready(State(gateway): State<LiveGateway>) -> Result<Response, Problem> {
    gateway.0.leaving.check()?;
    let resolved = gateway
        .0
        .catalogue
        .resolve(&[])
        .await
        .map_err(|error| super::prices::problem(&error))?;
    Ok(api::json(
        StatusCode::OK,
        &json!({ "status": "ready", "release": resolved.release.to_string() }),
    ))
}
