use api::{Caller, JsonObject, MembersReader, PathParameters, Problem};
use axum::extract::State;
use axum::response::Response;
use data_model::ErrorCode;
use http::HeaderMap;
use serde_json::json;

use super::body::{address, brand, named};
use super::{CartDocument, cart_id, carts, document, owner};
use crate::carts::schema::{AddressBody, DeliveryBody};
use crate::gateway::LiveGateway;
use crate::idempotent::{Request, once};
use crate::routes::errors::CartErrors;

/// Most characters of a handle.
const HANDLE_CHARS_MAX: usize = 300;

/// Says where to deliver.
///
/// Each store says how it can: `delivery_options` of its group, empty where it does not deliver there. The address holds
/// for brands that come into the cart later, too.
#[utoipa::path(
    post,
    path = "/v1/cart/{cart_id}/address",
    operation_id = "set_cart_address",
    tag = "Cart",
    params(("cart_id" = String, Path, description = "The cart."),
        ("Idempotency-Key" = Option<String>, Header, description = "Printable ASCII, 1 to 255 characters. The same request under the same key is done once; its answer is kept for a day.")),
    request_body(content = AddressBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The cart.", body = CartDocument, headers(("X-Request-Id" = String))),
        (status = 404, description = "The caller has no such cart.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        CartErrors,
    )
)]
pub(crate) async fn set_cart_address(
    State(gateway): State<LiveGateway>,
    caller: Caller,
    headers: HeaderMap,
    path: PathParameters,
    body: JsonObject,
) -> Result<Response, Problem> {
    let (carts, caller) = (carts(&gateway)?, owner(&caller)?);
    let id = cart_id(&path)?;
    let mut reader = MembersReader::new(&body);
    let address = address(&mut reader, carts.config());
    let address = reader
        .finish(address)?
        .ok_or_else(|| Problem::new(ErrorCode::Internal))?;
    let request = Request {
        caller,
        route: "set_cart_address",
        headers: &headers,
        content: json!({ "cart": id.as_str(), "body": body.0 }),
    };
    let worker = carts.clone();
    Box::pin(once(carts, request, |begin| async move {
        document(worker.set_address(&begin.asked, &id, address).await?)
    }))
    .await
}

/// Chooses how one brand delivers.
#[utoipa::path(
    post,
    path = "/v1/cart/{cart_id}/delivery",
    operation_id = "choose_cart_delivery",
    tag = "Cart",
    params(("cart_id" = String, Path, description = "The cart."),
        ("Idempotency-Key" = Option<String>, Header, description = "Printable ASCII, 1 to 255 characters. The same request under the same key is done once; its answer is kept for a day.")),
    request_body(content = DeliveryBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The cart.", body = CartDocument, headers(("X-Request-Id" = String))),
        (status = 404, description = "The caller has no such cart, or the cart has nothing of the brand.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        CartErrors,
    )
)]
pub(crate) async fn choose_cart_delivery(
    State(gateway): State<LiveGateway>,
    caller: Caller,
    headers: HeaderMap,
    path: PathParameters,
    body: JsonObject,
) -> Result<Response, Problem> {
    let (carts, caller) = (carts(&gateway)?, owner(&caller)?);
    let id = cart_id(&path)?;
    let mut reader = MembersReader::new(&body);
    let brand = reader.required("brand").parsed(brand);
    let handle = reader.required("handle").parsed(|text| named(text, HANDLE_CHARS_MAX));
    let chosen = reader.finish(brand.zip(handle))?;
    let (brand, handle) = chosen.ok_or_else(|| Problem::new(ErrorCode::Internal))?;
    let request = Request {
        caller,
        route: "choose_cart_delivery",
        headers: &headers,
        content: json!({ "cart": id.as_str(), "body": body.0 }),
    };
    let worker = carts.clone();
    Box::pin(once(carts, request, |begin| async move {
        document(worker.choose_delivery(&begin.asked, &id, &brand, &handle).await?)
    }))
    .await
}
