use api::{JsonObject, MembersReader, Problem};
use axum::response::Response;
use data_model::ErrorCode;
use serde_json::json;

use super::asking::CartRequestContext;
use super::body::{address, brand, named};
use crate::routes::described::{CartErrors, CartOnce};
use crate::schema::carts::{AddressBody, CartDocument, DeliveryBody};

const HANDLE_CHARS_MAX: usize = 300;

/// Sets the delivery address.
///
/// Each store returns `delivery_options` in its group. The list is empty if the store does not deliver to the address.
/// The address also applies to brands that are added to the cart later. All fields are optional. If the country needs a
/// postal code and the request has none, each brand's problem says so.
#[utoipa::path(
    post,
    path = "/v1/cart/{cart_id}/address",
    operation_id = "set_cart_address",
    tag = "Cart",
    params(CartOnce),
    request_body(content = AddressBody, content_type = "application/json"),
    responses((status = 200, description = "The cart.", body = CartDocument, headers(("X-Request-Id" = String))), CartErrors)
)]
pub(crate) async fn set_cart_address(of: CartRequestContext, body: JsonObject) -> Result<Response, Problem> {
    let mut reader = MembersReader::new(&body);
    let address = address(&mut reader, of.asking.config());
    let address = reader.finish(address)?;
    let id = of.cart;
    let content = json!({ "cart": id.as_str(), "body": body.0 });
    of.asking
        .once("set_cart_address", content, |checkouts, begin| async move {
            checkouts.carts.set_address(&begin.asked, &id, address).await
        })
        .await
}

/// Selects a delivery option of one brand.
///
/// `delivery_options` of the brand's group lists the available options once an address is set.
#[utoipa::path(
    post,
    path = "/v1/cart/{cart_id}/delivery",
    operation_id = "choose_cart_delivery",
    tag = "Cart",
    params(CartOnce),
    request_body(content = DeliveryBody, content_type = "application/json"),
    responses((status = 200, description = "The cart.", body = CartDocument, headers(("X-Request-Id" = String))), CartErrors)
)]
pub(crate) async fn choose_cart_delivery(of: CartRequestContext, body: JsonObject) -> Result<Response, Problem> {
    let mut reader = MembersReader::new(&body);
    let brand = reader.required("brand").parsed(brand);
    let handle = reader.required("handle").parsed(|text| named(text, HANDLE_CHARS_MAX));
    let chosen = reader.finish(brand.zip(handle))?;
    let (brand, handle) = chosen.ok_or_else(|| Problem::new(ErrorCode::Internal))?;
    let id = of.cart;
    let content = json!({ "cart": id.as_str(), "body": body.0 });
    of.asking
        .once("choose_cart_delivery", content, |checkouts, begin| async move {
            checkouts
                .carts
                .choose_delivery(&begin.asked, &id, &brand, &handle)
                .await
        })
        .await
}
