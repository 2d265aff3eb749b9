use api::{JsonObject, MembersReader, Problem};
use axum::response::Response;
use data_model::ErrorCode;
use serde_json::json;

use super::asking::{CartRequestContext, RequestContext};
use super::body::{email, items};
use crate::hidden::SecretText;
use crate::routes::described::{CartErrors, CartOnce, OfCart, Once};
use crate::schema::carts::{CartDocument, CreateBody};

/// Makes a cart over several brands.
///
/// Each brand's items lie in a cart of that brand's own store; the answer has one group for each. An item whose product is
/// unknown, and a store that does not answer, stand in `problems` and cost the other groups nothing; where nobody sells any of
/// the items, the answer is 404 with the same `problems`. An item without
/// `variant_id` is the first variant that can be bought. A store that has fewer pieces than asked for gives what it has:
/// `qty` is below `requested_qty` then. The cart belongs to whoever made it; nobody else finds it.
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

/// A cart as its stores have it now.
///
/// Every store is asked, and the request counts as many as there are stores. Who reads the same cart again within seconds
/// may get the same answer; it says its `as_of`. A group whose store does not answer is told as it was last known (`verified: false`), and the
/// failure stands in `problems`. A store's cart that expired is made anew of what is known of it.
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

/// Ends a cart, and answers what it was.
///
/// Its lines are taken out at the stores, and it is found no more. The answer is the cart as it was last known
/// (`verified: false`). A store that does not answer keeps its own cart until that expires; nothing was ordered.
#[utoipa::path(
    delete,
    path = "/v1/cart/{cart_id}",
    operation_id = "end_cart",
    tag = "Cart",
    params(CartOnce),
    responses((status = 200, description = "The cart as it was.", body = CartDocument, headers(("X-Request-Id" = String))), CartErrors)
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
