use api::{JsonObject, MembersReader, Problem};
use axum::response::Response;
use data_model::ErrorCode;
use serde_json::json;

use super::asking::{CartRequestContext, RequestContext};
use super::body::{email, items};
use crate::hidden::SecretText;
use crate::routes::described::{CartErrors, CartOnce, OfCart, Once};
use crate::schema::carts::{CartDocument, CreateBody};

/// Creates a cart over several brands.
///
/// Each brand's items are in a cart at that brand's own store, and the response has one group for each brand. Unknown
/// products and stores that do not respond are listed in `problems` and do not affect the other groups. If none of the
/// items is sold, the response is 404 with these `problems`. For an item without `variant_id`, the first variant that
/// can be bought is added. If a store has fewer units than requested, `qty` is below `requested_qty`. The cart belongs
/// to the caller that created it and is invisible to others.
#[utoipa::path(
    post,
    path = "/v1/cart",
    operation_id = "create_cart",
    tag = "Cart",
    params(Once),
    request_body(content = CreateBody, content_type = "application/json"),
    responses((status = 200, description = "The cart.", body = CartDocument, headers(("X-Request-Id" = String))), CartErrors)
)]
pub(crate) async fn create_cart(asking: RequestContext, body: JsonObject) -> Result<Response, Problem> {
    let quotes = asking.quote_reader().await?;
    let mut reader = MembersReader::new(&body);
    let items = items(&mut reader, &quotes, asking.config(), true);
    let email = reader.optional("email").parsed(email);
    let (items, email) = reader.finish((items, email))?;
    let content = json!({ "body": body.0 });
    asking
        .once("create_cart", content, |checkouts, begin| async move {
            let email = email.map(SecretText::new);
            checkouts.carts.create(&begin.asked, begin.cart, &items, email).await
        })
        .await
}

/// Reads a cart from its stores.
///
/// Every store is queried, and for rate limits the request counts once for each store. A repeated read within seconds
/// may get the same response, which states its `as_of`. A group whose store does not respond has its last known content
/// (`verified: false`), and the failure is listed in `problems`. A store's cart that has expired is rebuilt from the
/// known content.
#[utoipa::path(
    get,
    path = "/v1/cart/{cart_id}",
    operation_id = "get_cart",
    tag = "Cart",
    params(OfCart),
    responses((status = 200, description = "The cart.", body = CartDocument, headers(("X-Request-Id" = String))), CartErrors)
)]
pub(crate) async fn get_cart(of: CartRequestContext) -> Result<Response, Problem> {
    let path = api::QueryReader::new(None).finish(of.path, ());
    path.map_err(|_| Problem::new(ErrorCode::CartNotFound))?;
    let id = of.cart;
    Box::pin(of.asking.read(id)).await
}

/// Deletes a cart and returns its last content.
///
/// The cart's lines are removed at the stores, and the cart can no longer be found. The response is the cart as it was
/// last known (`verified: false`). If a store does not respond, its cart remains there until it expires; nothing was
/// ordered.
#[utoipa::path(
    delete,
    path = "/v1/cart/{cart_id}",
    operation_id = "end_cart",
    tag = "Cart",
    params(CartOnce),
    responses((status = 200, description = "The cart in its last state.",
        body = CartDocument, headers(("X-Request-Id" = String))), CartErrors)
)]
pub(crate) async fn end_cart(of: CartRequestContext) -> Result<Response, Problem> {
    api::QueryReader::new(None).finish(of.path, ())?;
    let id = of.cart;
    let content = json!({ "cart": id.as_str() });
    of.asking
        .once("end_cart", content, |checkouts, begin| async move {
            checkouts.carts.end(&begin.asked, &id).await
        })
        .await
}
