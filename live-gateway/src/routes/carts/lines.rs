use api::{JsonObject, MembersReader, Problem};
use axum::response::Response;
use data_model::ErrorCode;
use serde_json::json;

use super::asking::{CartRequestContext, RequestContext};
use super::body::{items, quantity};
use crate::routes::described::{CartErrors, CartOnce};
use crate::rules::carts::ids::CartId;
use crate::schema::carts::{CartDocument, LineBody, LinesBody};

/// Adds items to a cart.
///
/// The quantity of a variant that is in the cart already grows by the given amount. A brand that is new to the cart
/// gets a cart at its own store.
#[utoipa::path(
    post,
    path = "/v1/cart/{cart_id}/lines",
    operation_id = "add_cart_lines",
    tag = "Cart",
    params(CartOnce),
    request_body(content = LinesBody, content_type = "application/json"),
    responses((status = 200, description = "The cart.", body = CartDocument, headers(("X-Request-Id" = String))), CartErrors)
)]
pub(crate) async fn add_cart_lines(of: CartRequestContext, body: JsonObject) -> Result<Response, Problem> {
    let quotes = of.asking.quote_reader().await?;
    let mut reader = MembersReader::new(&body);
    let items = items(&mut reader, &quotes, of.asking.config(), false);
    let items = reader.finish(items)?;
    let id = of.cart;
    let content = json!({ "cart": id.as_str(), "body": body.0 });
    of.asking
        .once("add_cart_lines", content, |checkouts, begin| async move {
            checkouts.carts.add_lines(&begin.asked, &id, &items).await
        })
        .await
}

/// Replaces the content of a cart.
///
/// Lines that are not listed are removed, quantities are set to the given values, and new items are added. An item
/// without `variant_id` is the variant of the product that is in the cart, if there is one. Unavailable items are
/// listed in `problems`. If none of the items is available, the cart stays unchanged.
#[utoipa::path(
    put,
    path = "/v1/cart/{cart_id}/lines",
    operation_id = "replace_cart_lines",
    tag = "Cart",
    params(CartOnce),
    request_body(content = LinesBody, content_type = "application/json"),
    responses((status = 200, description = "The cart.", body = CartDocument, headers(("X-Request-Id" = String))), CartErrors)
)]
pub(crate) async fn replace_cart_lines(of: CartRequestContext, body: JsonObject) -> Result<Response, Problem> {
    let quotes = of.asking.quote_reader().await?;
    let mut reader = MembersReader::new(&body);
    let items = items(&mut reader, &quotes, of.asking.config(), false);
    let items = reader.finish(items)?;
    let id = of.cart;
    let content = json!({ "cart": id.as_str(), "body": body.0 });
    of.asking
        .once("replace_cart_lines", content, |checkouts, begin| async move {
            checkouts.carts.replace_lines(&begin.asked, &id, &items).await
        })
        .await
}

/// Sets the quantity of a line.
///
/// If the store has fewer units, `qty` is below `requested_qty`.
#[utoipa::path(
    patch,
    path = "/v1/cart/{cart_id}/lines/{line_id}",
    operation_id = "update_cart_line",
    tag = "Cart",
    params(CartOnce, ("line_id" = String, Path, description = "The line.")),
    request_body(content = LineBody, content_type = "application/json"),
    responses((status = 200, description = "The cart.", body = CartDocument, headers(("X-Request-Id" = String))), CartErrors)
)]
pub(crate) async fn update_cart_line(of: CartRequestContext, body: JsonObject) -> Result<Response, Problem> {
    let line = line_id(&of);
    let mut reader = MembersReader::new(&body);
    let quantity = quantity(&mut reader, of.asking.config());
    let quantity = reader.finish_with(of.path, quantity)?;
    let quantity = quantity.ok_or_else(|| Problem::new(ErrorCode::Internal))?;
    set(of.asking, "update_cart_line", of.cart, line, quantity).await
}

/// Removes a line from a cart.
///
/// A group without lines is removed.
#[utoipa::path(
    delete,
    path = "/v1/cart/{cart_id}/lines/{line_id}",
    operation_id = "remove_cart_line",
    tag = "Cart",
    params(CartOnce, ("line_id" = String, Path, description = "The line.")),
    responses((status = 200, description = "The cart.", body = CartDocument, headers(("X-Request-Id" = String))), CartErrors)
)]
pub(crate) async fn remove_cart_line(of: CartRequestContext) -> Result<Response, Problem> {
    let line = line_id(&of);
    api::QueryReader::new(None).finish(of.path, ())?;
    set(of.asking, "remove_cart_line", of.cart, line, 0).await
}

fn line_id(of: &CartRequestContext) -> String {
    of.path.text("line_id").unwrap_or_default().to_owned()
}

async fn set(
    asking: RequestContext,
    operation: &'static str,
    id: CartId,
    line: String,
    quantity: u32,
) -> Result<Response, Problem> {
    let content = json!({ "cart": id.as_str(), "line": line, "qty": quantity });
    asking
        .once(operation, content, |checkouts, begin| async move {
            checkouts.carts.set_line(&begin.asked, &id, &line, quantity).await
        })
        .await
}
