use api::Problem;
use axum::response::Response;
use serde_json::json;

use super::asking::CartRequestContext;
use crate::routes::described::{CartErrors, CartOnce};
use crate::schema::carts::{CartAnswerDocument, OptimizedCart};

/// Finds the codes that take off most, for every brand in the cart, and puts them in.
///
/// Codes are tried at each store within its pace and this operation's own time, on a cart made for that. The buyer's own
/// cart is changed once, and only where it becomes cheaper; else it stays as it was. `optimized` says for each brand what
/// was tried and what was saved.
#[utoipa::path(
    post,
    path = "/v1/cart/{cart_id}/optimize",
    operation_id = "optimize_cart",
    tag = "Cart",
    params(CartOnce),
    responses((status = 200, description = "The cart.", body = CartAnswerDocument<OptimizedCart>, headers(("X-Request-Id" = String))), CartErrors)
)]
pub(crate) async fn optimize_cart(of: CartRequestContext) -> Result<Response, Problem> {
    let id = of.cart;
    let content = json!({ "cart": id.as_str() });
    of.asking
        .once("optimize_cart", content, |checkouts, begin| async move {
            checkouts.carts.optimize(&begin.asked, &id).await
        })
        .await
}
