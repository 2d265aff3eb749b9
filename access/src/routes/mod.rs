//! HTTP routes: each reads the caller, calls one operation and writes the response.

mod changelog;

use api::{Caller, LiveErrors, OpenRouter, Problem, described};
use axum::extract::State;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::operations::{Access, MeError};
use crate::schema::{MeAnswer, PlansAnswer, QuotaAnswer};

fn operations() -> OpenApiRouter<Access> {
    described("Access: plans, the quota, the caller, and the changelog.")
        .routes(routes!(get_plans))
        .routes(routes!(get_quota))
        .routes(routes!(get_me))
        .routes(routes!(changelog::get_changelog))
}

/// Returns the OpenAPI description of the operations.
#[must_use]
pub fn openapi() -> OpenApi {
    operations().into_openapi()
}

/// Returns the routes of the operations.
#[must_use]
pub fn open_router(access: Access) -> OpenRouter {
    OpenRouter::of(operations(), access).answered_past_limits()
}

/// Returns the access policy.
///
/// The policy lists the operations that need a key, the limits of each plan, and the steps to get a key. All other
/// operations need no key. The policy is available even to a caller who has reached a limit.
#[utoipa::path(
    get,
    path = "/v1/plans",
    operation_id = "get_plans",
    tag = "Platform",
    responses(
        (status = 200, description = "The policy.", body = PlansAnswer, headers(("X-Request-Id" = String))),
        LiveErrors,
    )
)]
async fn get_plans(State(access): State<Access>) -> Response {
    api::json(StatusCode::OK, &PlansAnswer::new(access.policy(), access.now()))
}

/// Returns the limits of the caller: with a key the limits of that key, otherwise those of the client's address.
///
/// The limits are available even after a limit is reached. The header `RateLimit` of every response under `/v1/` states
/// the number of requests that remain for the next seconds.
#[utoipa::path(
    get,
    path = "/v1/quota",
    operation_id = "get_quota",
    tag = "Platform",
    responses(
        (status = 200, description = "The limit.", body = QuotaAnswer, headers(("X-Request-Id" = String))),
        LiveErrors,
    )
)]
async fn get_quota(State(access): State<Access>, caller: Caller) -> Response {
    let quota = access.quota(&caller).await;
    api::json(StatusCode::OK, &QuotaAnswer::new(quota, access.now()))
}

/// Returns the caller's identity and requests today.
///
/// With a key: the key, its account, and the requests of the key. With a session: the account, and the requests of all
/// its keys.
#[utoipa::path(
    get,
    path = "/v1/me",
    operation_id = "get_me",
    tag = "Platform",
    responses(
        (status = 200, description = "The caller.", body = MeAnswer, headers(("X-Request-Id" = String))),
        LiveErrors,
    )
)]
async fn get_me(State(access): State<Access>, caller: Caller) -> Result<Response, Problem> {
    let me = access.me(&caller).await.map_err(|error| problem(&error))?;
    Ok(api::json(StatusCode::OK, &MeAnswer::new(me, access.now())))
}

fn problem(error: &MeError) -> Problem {
    match error {
        // The guard has already refused such requests, unless the operator allows anonymous ones.
        MeError::Anonymous => Problem::of(error).header(
            header::WWW_AUTHENTICATE,
            HeaderValue::from_static("Bearer realm=\"haat\""),
        ),
        MeError::Unavailable(_) => Problem::of(error),
        MeError::Unreadable(_) => {
            tracing::error!(
                error = error as &dyn std::error::Error,
                "a caller's own details cannot be read"
            );
            Problem::of(error)
        }
    }
}
