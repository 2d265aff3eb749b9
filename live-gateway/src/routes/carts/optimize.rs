use api::Problem;
use axum::response::Response;
use serde_json::json;

use super::asking::CartRequestContext;
use crate::routes::described::{CartErrors, CartOnce};
use crate::schema::carts::{CartAnswerDocument, OptimizedCart};

/// Finds the discount codes with the highest discount for every brand in the cart and applies them.
///
/// Codes are tried at each store within its rate limit and this operation's time budget, on a separate cart. The
/// buyer's cart changes at most once, and only if it becomes cheaper. `optimized` lists the tried codes and the savings
/// for each brand.
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
