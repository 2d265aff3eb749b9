//! The routes: read who asks, call one operation, write.

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

/// Operations with their documentation, from one registration.
fn operations() -> OpenApiRouter<Access> {
    described("Access: plans, the quota, the caller, and the changelog.")
        .routes(routes!(get_plans))
        .routes(routes!(get_quota))
        .routes(routes!(get_me))
        .routes(routes!(changelog::get_changelog))
}

/// The interface description of the operations.
#[must_use]
pub fn openapi() -> OpenApi {
    operations().into_openapi()
}

/// The operations' routes.
#[must_use]
pub fn open_router(access: Access) -> OpenRouter {
    OpenRouter::of(operations(), access).answered_past_limits()
}

/// The access policy.
///
/// Access to this server: the operations that need no key, those that need one, the limits of each plan, and the way to
/// get a key. A caller who has reached a limit still gets this answer.
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

/// The limits of the caller: with a key that key's own limit, else the limit of each client address.
///
/// It is told when a limit is reached, too. What is left of it for the next seconds stands in the header `RateLimit` of this and every answer under `/v1/`.
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

/// The caller, and their requests today.
///
/// With a key: the key, the account that it belongs to, and its own requests. With a session: the account, and the
/// requests of all its keys.
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
        // The guard refuses such requests before, unless the operator lets anybody ask.
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
