//! HTTP routes, which read a request, call one operation and write the response.

mod read;

use api::{Caller, JsonObject, LiveErrors, OpenRouter, PathParameters, Problem, described};
use axum::extract::State;
use axum::response::Response;
use data_model::Classify as _;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::error::WatchError;
use crate::schema::{WatchAnswer, WatchBody, WatchChangeBody, WatchEventAnswer, WatchEventsAnswer, WatchesAnswer};
use crate::stop;
use crate::watches::Watches;

const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// Returns the routes of the operations with their documentation.
fn operations() -> OpenApiRouter<Watches> {
    described(
        "Notifies a webhook or an e-mail address when a price falls, a product is back in stock, or a new product is \
         found.",
    )
    .routes(routes!(create_watch, list_watches))
    .routes(routes!(get_watch, update_watch, delete_watch))
    .routes(routes!(rotate_watch_secret))
    .routes(routes!(test_watch))
    .routes(routes!(list_watch_events))
}

/// Returns the OpenAPI description of the operations.
#[must_use]
pub fn openapi() -> OpenApi {
    operations().into_openapi()
}

/// Returns the routes of the operations.
#[must_use]
pub fn open_router(watches: Watches) -> OpenRouter {
    OpenRouter::of(operations(), watches.clone()).merge(stop::routes(watches))
}

/// Creates a watch of a product or a query.
///
/// A watch of a product sends an event when the price falls below `price_below`, the markdown reaches
/// `discount_at_least`, or the product is back in stock (`back_in_stock`). At least one of these conditions is
/// required. Each condition sends an event each time that it becomes true. Conditions that are already true at creation
/// send no event; `seen` shows the initial state. A watch of a query sends an event for each product that the query
/// finds and that was first seen after the creation. Watches are evaluated with each release and with each live
/// response of a store. With `webhook`, events are POST requests in the form of Standard Webhooks. The requests are
/// signed with `secret`, which only this response shows. Redirects are not followed. With `email`, events are e-mails
/// to the address that the caller's account signs in with. Each e-mail has a link that stops the e-mails. An event that
/// is not accepted is sent again for three days, with growing intervals; its id stays the same.
#[utoipa::path(
    post,
    path = "/v1/watches",
    operation_id = "create_watch",
    tag = "Platform",
    params(("Idempotency-Key" = Option<String>, Header, description = "Printable ASCII, 1 to 255 characters. A \
        repeated request with the same key creates no second watch.", min_length = 1, max_length = 255)),
    request_body(content = WatchBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The watch.", body = WatchAnswer, headers(("X-Request-Id" = String))),
        (status = 403, description = "The caller already has the maximum number of watches.",
            body = api::ProblemDocument, content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        (status = 404, description = "No such product.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        LiveErrors,
    )
)]
async fn create_watch(
    State(watches): State<Watches>,
    caller: Caller,
    headers: HeaderMap,
    body: JsonObject,
) -> Result<Response, Problem> {
    let key = read::idempotency_key(&headers)?;
    let new = read::new_watch(&body)?;
    let created = watches.create(&caller, key.as_deref(), new).await;
    let created = created.map_err(|error| problem(&error))?;
    let answer = WatchAnswer::new(created.watch, watches.now());
    let mut response = api::json(StatusCode::OK, &answer);
    if created.is_replayed {
        response
            .headers_mut()
            .insert(REPLAYED, HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// Lists the caller's watches, oldest first.
///
/// Watches belong to the account, or to the key if the key belongs to no account.
#[utoipa::path(
    get,
    path = "/v1/watches",
    operation_id = "list_watches",
    tag = "Platform",
    responses(
        (status = 200, description = "The watches.", body = WatchesAnswer, headers(("X-Request-Id" = String))),
        LiveErrors,
    )
)]
async fn list_watches(State(watches): State<Watches>, caller: Caller) -> Result<Response, Problem> {
    let list = watches.list(&caller).await.map_err(|error| problem(&error))?;
    Ok(api::json(StatusCode::OK, &WatchesAnswer::new(list, watches.now())))
}

/// Returns one of the caller's watches.
///
/// The secret is not included; if it is lost, it can be replaced with a new one.
#[utoipa::path(
    get,
    path = "/v1/watches/{watch_id}",
    operation_id = "get_watch",
    tag = "Platform",
    params(("watch_id" = String, Path, description = "The watch.")),
    responses(
        (status = 200, description = "The watch.", body = WatchAnswer, headers(("X-Request-Id" = String))),
        (status = 404, description = "The watch does not exist or belongs to another caller.",
            body = api::ProblemDocument, content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        LiveErrors,
    )
)]
async fn get_watch(State(watches): State<Watches>, caller: Caller, path: PathParameters) -> Result<Response, Problem> {
    let id = read::watch_id(path)?;
    let watch = watches.get(&caller, &id).await.map_err(|error| problem(&error))?;
    Ok(api::json(StatusCode::OK, &WatchAnswer::new(watch, watches.now())))
}

/// Pauses or resumes a watch.
///
/// A paused watch is not evaluated, and its events wait. After it is resumed, conditions that became true in the
/// meantime and still hold send events.
#[utoipa::path(
    patch,
    path = "/v1/watches/{watch_id}",
    operation_id = "update_watch",
    tag = "Platform",
    params(("watch_id" = String, Path, description = "The watch.")),
    request_body(content = WatchChangeBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The watch.", body = WatchAnswer, headers(("X-Request-Id" = String))),
        (status = 404, description = "The watch does not exist or belongs to another caller.",
            body = api::ProblemDocument, content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        LiveErrors,
    )
)]
async fn update_watch(
    State(watches): State<Watches>,
    caller: Caller,
    path: PathParameters,
    body: JsonObject,
) -> Result<Response, Problem> {
    let id = read::watch_id(path)?;
    let paused = read::paused(&body)?;
    let watch = watches.pause(&caller, &id, paused).await;
    let watch = watch.map_err(|error| problem(&error))?;
    Ok(api::json(StatusCode::OK, &WatchAnswer::new(watch, watches.now())))
}

/// Deletes a watch and returns its last content.
///
/// The watch's events are deleted too, including those that wait for delivery.
#[utoipa::path(
    delete,
    path = "/v1/watches/{watch_id}",
    operation_id = "delete_watch",
    tag = "Platform",
    params(("watch_id" = String, Path, description = "The watch.")),
    responses(
        (status = 200, description = "The deleted watch in its last state.",
            body = WatchAnswer, headers(("X-Request-Id" = String))),
        (status = 404, description = "The watch does not exist or belongs to another caller.",
            body = api::ProblemDocument, content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        LiveErrors,
    )
)]
async fn delete_watch(
    State(watches): State<Watches>,
    caller: Caller,
    path: PathParameters,
) -> Result<Response, Problem> {
    let id = read::watch_id(path)?;
    let watch = watches.delete(&caller, &id).await.map_err(|error| problem(&error))?;
    Ok(api::json(StatusCode::OK, &WatchAnswer::new(watch, watches.now())))
}

/// Replaces the secret of a watch.
///
/// Only this response shows the new secret. For a day, events are signed with the previous secret too. A watch with
/// e-mails has no secret.
#[utoipa::path(
    post,
    path = "/v1/watches/{watch_id}/rotate-secret",
    operation_id = "rotate_watch_secret",
    tag = "Platform",
    params(("watch_id" = String, Path, description = "The watch.")),
    responses(
        (status = 200, description = "The watch, with its new secret.", body = WatchAnswer,
            headers(("X-Request-Id" = String))),
        (status = 404, description = "The watch does not exist or belongs to another caller.",
            body = api::ProblemDocument, content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        LiveErrors,
    )
)]
async fn rotate_watch_secret(
    State(watches): State<Watches>,
    caller: Caller,
    path: PathParameters,
) -> Result<Response, Problem> {
    let id = read::watch_id(path)?;
    let watch = watches.rotate_secret(&caller, &id).await;
    let watch = watch.map_err(|error| problem(&error))?;
    Ok(api::json(StatusCode::OK, &WatchAnswer::new(watch, watches.now())))
}

/// Sends a test event to the receiver of a watch.
///
/// The event has the type `watch.test`. The test event is delivered like any other event, and the list of events shows
/// the outcome.
#[utoipa::path(
    post,
    path = "/v1/watches/{watch_id}/test",
    operation_id = "test_watch",
    tag = "Platform",
    params(("watch_id" = String, Path, description = "The watch.")),
    responses(
        (status = 200, description = "The test event, which will be delivered.",
            body = WatchEventAnswer, headers(("X-Request-Id" = String))),
        (status = 404, description = "The watch does not exist or belongs to another caller.",
            body = api::ProblemDocument, content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        LiveErrors,
    )
)]
async fn test_watch(State(watches): State<Watches>, caller: Caller, path: PathParameters) -> Result<Response, Problem> {
    let id = read::watch_id(path)?;
    let event = watches.test(&caller, &id).await.map_err(|error| problem(&error))?;
    Ok(api::json(StatusCode::OK, &WatchEventAnswer::new(event, watches.now())))
}

/// Lists the latest 100 events of a watch, newest first.
///
/// An event that could not be delivered within three days is `dead`. Events are stored for 45 days.
#[utoipa::path(
    get,
    path = "/v1/watches/{watch_id}/events",
    operation_id = "list_watch_events",
    tag = "Platform",
    params(("watch_id" = String, Path, description = "The watch.")),
    responses(
        (status = 200, description = "The events.", body = WatchEventsAnswer, headers(("X-Request-Id" = String))),
        (status = 404, description = "The watch does not exist or belongs to another caller.",
            body = api::ProblemDocument, content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        LiveErrors,
    )
)]
async fn list_watch_events(
    State(watches): State<Watches>,
    caller: Caller,
    path: PathParameters,
) -> Result<Response, Problem> {
    let id = read::watch_id(path)?;
    let events = watches.events(&caller, &id).await.map_err(|error| problem(&error))?;
    Ok(api::json(
        StatusCode::OK,
        &WatchEventsAnswer::new(events, watches.now()),
    ))
}

/// Converts failures of operations to problems for clients.
fn problem(error: &WatchError) -> Problem {
    match error {
        WatchError::Address(refusal) => read::refused_url(refusal.to_string()),
        WatchError::Plain => read::refused_url(error.to_string()),
        WatchError::NoMail | WatchError::Unproved => read::refused_email(error.to_string()),
        WatchError::NoSecret => read::refused_watch(error.to_string()),
        WatchError::NoVariant => read::refused_variant(),
        WatchError::Mismatch => read::refused_key(error.to_string()),
        WatchError::Unknown => Problem::of(error).detail("The watch does not exist."),
        WatchError::TooMany { .. } => Problem::of(error).detail(error.to_string()),
        WatchError::Anonymous => Problem::of(error).detail("Watches need a key, or a session of a signed-in user."),
        _ => {
            if error.code() == data_model::ErrorCode::Internal {
                let error: &dyn std::error::Error = error;
                tracing::error!(error, "a watch cannot be read or changed");
            }
            Problem::of(error)
        }
    }
}
