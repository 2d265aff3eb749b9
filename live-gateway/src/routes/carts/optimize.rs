use api::{Caller, PathParameters, Problem};
use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;
use serde_json::json;

use super::{cart_id, carts, document, owner};
use crate::carts::schema::{CartAnswerDocument, OptimizedCart};
use crate::gateway::LiveGateway;
use crate::idempotent::{Request, once};
use crate::routes::errors::CartErrors;

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
    params(("cart_id" = String, Path, description = "The cart."),
        ("Idempotency-Key" = Option<String>, Header, description = "Printable ASCII, 1 to 255 characters. The same request under the same key is done once; its answer is kept for a day.")),
    responses(
        (status = 200, description = "The cart.", body = CartAnswerDocument<OptimizedCart>, headers(("X-Request-Id" = String))),
        (status = 404, description = "The caller has no such cart.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        CartErrors,
    )
)]
pub(crate) async fn optimize_cart(
    State(gateway): State<LiveGateway>,
    caller: Caller,
    headers: HeaderMap,
    path: PathParameters,
) -> Result<Response, Problem> {
    let (carts, caller) = (carts(&gateway)?, owner(&caller)?);
    let id = cart_id(&path)?;
    let request = Request {
        caller,
        route: "optimize_cart",
        headers: &headers,
        content: json!({ "cart": id.as_str() }),
    };
    let worker = carts.clone();
    Box::pin(once(carts, request, |begin| async move {
        document(worker.optimize(&begin.asked, &id).await?)
    }))
    .await
}
