use api::{JsonObject, MembersReader, MethodError, Problem};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use data_model::ErrorCode;
use http::{HeaderValue, StatusCode, header};
use serde_json::json;

use super::carts::asking::RequestContext;
use super::described::{CartErrors, Once};
use crate::checkout::schema::{Checkout, CheckoutBody, JwksDocument};
use crate::gateway::LiveGateway;
use crate::rules::carts::ids::CartId;
use crate::schema::carts::CartAnswerDocument;

/// Cache time of the keys. A new key is published an hour before it signs.
const JWKS_CACHE: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// Prepares a cart for checkout at its brands' own stores.
///
/// The response contains one checkout for each brand. A person opens the checkout to pay; no payment is made here. A
/// signed token for each store states who referred the buyer, and names no other brand. The store's cart carries the
/// token as the attribute `haat_attribution`. Anyone can verify the token with the keys at `jwks_url`. A brand whose
/// store does not respond is listed in `problems`.
#[utoipa::path(
    post,
    path = "/v1/checkout",
    operation_id = "create_checkout",
    tag = "Checkout",
    params(Once),
    request_body(content = CheckoutBody, content_type = "application/json"),
    responses((status = 200, description = "The checkouts.", body = CartAnswerDocument<Checkout>, headers(("X-Request-Id" = String))), CartErrors)
)]
pub(crate) async fn create_checkout(asking: RequestContext, body: JsonObject) -> Result<Response, Problem> {
    let mut reader = MembersReader::new(&body);
    let id = reader
        .required("cart_id")
        .text(64)
        .map(|text| text.parse::<CartId>().ok());
    let id = reader
        .finish(id.flatten())?
        .ok_or_else(|| Problem::new(ErrorCode::CartNotFound))?;
    let content = json!({ "body": body.0 });
    asking
        .once("create_checkout", content, |checkouts, begin| async move {
            checkouts.checkout(&begin.asked, &id).await
        })
        .await
}

/// Returns the keys that verify attribution tokens (RFC 7517, RFC 8037).
///
/// The public keys are of Ed25519 or P-256: the key that signs now, a key that will sign soon, and older keys as long
/// as tokens signed by them are valid.
#[utoipa::path(
    get,
    path = "/.well-known/jwks.json",
    operation_id = "get_jwks",
    tag = "Checkout",
    responses(
        (status = 200, description = "The keys.", body = JwksDocument,
            headers(("X-Request-Id" = String), ("Cache-Control" = String))),
        (status = 503, description = "This server has no signing keys, or cannot read them.",
            body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("Retry-After" = i64), ("X-Request-Id" = String))),
        MethodError,
    )
)]
pub(crate) async fn get_jwks(State(gateway): State<LiveGateway>) -> Result<Response, Problem> {
    let keys = gateway.checkouts()?.jwks().await.map_err(|failure| failure.problem())?;
    let mut response = api::json(StatusCode::OK, &JwksDocument { keys }).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, JWKS_CACHE);
    Ok(response)
}
