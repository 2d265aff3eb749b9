use api::{JsonObject, MembersReader, Problem};
use axum::response::Response;
use data_model::ErrorCode;
use serde_json::json;

use super::asking::{CartRequestContext, RequestContext};
use super::body::{items, quantity};
use crate::routes::described::{CartErrors, CartOnce};
use crate::rules::carts::ids::CartId;
use crate::schema::carts::{CartDocument, LineBody, LinesBody};

/// Puts more into a cart.
///
/// A variant that is in the cart already grows by as many; a brand that is not in it yet gets a cart of its own at its
/// store.
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

/// Makes a cart hold these items and nothing else.
///
/// Lines that are not named go, quantities are set to those given, new items come in. An item without `variant_id` is the
/// variant that is in the cart, where there is one of the product. What cannot be had stands in `problems`; where nothing
/// of it can be had, the cart stays as it is.
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

/// Sets how many there are of a line.
///
/// A store that has fewer gives what it has: `qty` is below `requested_qty` then.
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

/// Takes a line out of a cart.
///
/// A group without lines is gone.
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
