use api::{Caller, JsonObject, MembersReader, PathParameters, Problem};
use axum::extract::State;
use axum::response::Response;
use data_model::ErrorCode;
use http::HeaderMap;
use serde_json::json;

use super::body::{email, items};
use super::{CartDocument, answered, cart_id, carts, document, owner};
use crate::carts::schema::CreateBody;
use crate::gateway::LiveGateway;
use crate::hidden::Hidden;
use crate::idempotent::{Request, once};
use crate::routes::errors::CartErrors;

/// Makes a cart over several brands.
///
/// Each brand's items lie in a cart of that brand's own store; the answer has one group for each. An item whose product is
/// unknown, and a store that does not answer, stand in `problems` and cost the other groups nothing. An item without
/// `variant_id` is the first variant that can be bought. A store that has fewer pieces than asked for gives what it has:
/// `qty` is below `requested_qty` then. The cart belongs to whoever made it; nobody else finds it.
#[utoipa::path(
    post,
    path = "/v1/cart",
    operation_id = "create_cart",
    tag = "Cart",
    params(("Idempotency-Key" = Option<String>, Header, description = "Printable ASCII, 1 to 255 characters. The same request under the same key is done once; its answer is kept for a day.")),
    request_body(content = CreateBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The cart.", body = CartDocument, headers(("X-Request-Id" = String))),
        CartErrors,
    )
)]
pub(crate) async fn create_cart(
    State(gateway): State<LiveGateway>,
    caller: Caller,
    headers: HeaderMap,
    body: JsonObject,
) -> Result<Response, Problem> {
    let (carts, caller) = (carts(&gateway)?, owner(&caller)?);
    let mut reader = MembersReader::new(&body);
    let items = items(&mut reader, carts.config(), true);
    let email = reader.optional("email").parsed(email);
    let (items, email) = reader.finish((items, email))?;
    let request = Request {
        caller,
        route: "create_cart",
        headers: &headers,
        content: json!({ "body": body.0 }),
    };
    let worker = carts.clone();
    Box::pin(once(carts, request, |begin| async move {
        let email = email.map(Hidden::new);
        document(worker.create(&begin.asked, begin.cart, &items, email).await?)
    }))
    .await
}

/// A cart as its stores have it now.
///
/// Every store is asked. A group whose store does not answer is told as it was last known (`verified: false`), and the
/// failure stands in `problems`. A store's cart that expired is made anew of what is known of it.
#[utoipa::path(
    get,
    path = "/v1/cart/{cart_id}",
    operation_id = "get_cart",
    tag = "Cart",
    params(("cart_id" = String, Path, description = "The cart.")),
    responses(
        (status = 200, description = "The cart.", body = CartDocument, headers(("X-Request-Id" = String))),
        (status = 404, description = "The caller has no such cart.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        CartErrors,
    )
)]
pub(crate) async fn get_cart(
    State(gateway): State<LiveGateway>,
    caller: Caller,
    path: PathParameters,
) -> Result<Response, Problem> {
    let (carts, caller) = (carts(&gateway)?.clone(), owner(&caller)?.to_owned());
    let id = cart_id(&path)?;
    let path = api::QueryReader::new(None).finish(path, ());
    path.map_err(|_| Problem::new(ErrorCode::CartNotFound))?;
    answered(async move { document(carts.read(&caller, &id).await?) }).await
}
