use api::{Caller, JsonObject, MembersReader, PathParameters, Problem};
use axum::extract::State;
use axum::response::Response;
use data_model::ErrorCode;
use http::HeaderMap;
use serde_json::json;

use super::body::{items, quantity};
use super::{CartDocument, answered, cart_id, carts, document, owner};
use crate::carts::Asked;
use crate::carts::schema::{LineBody, LinesBody};
use crate::gateway::LiveGateway;
use crate::idempotent::{Request, once};
use crate::routes::errors::CartErrors;

/// Puts more into a cart.
///
/// A variant that is in the cart already grows by as many; a brand that is not in it yet gets a cart of its own at its
/// store.
#[utoipa::path(
    post,
    path = "/v1/cart/{cart_id}/lines",
    operation_id = "add_cart_lines",
    tag = "Cart",
    params(("cart_id" = String, Path, description = "The cart."),
        ("Idempotency-Key" = Option<String>, Header, description = "Printable ASCII, 1 to 255 characters. The same request under the same key is done once; its answer is kept for a day.")),
    request_body(content = LinesBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The cart.", body = CartDocument, headers(("X-Request-Id" = String))),
        (status = 404, description = "The caller has no such cart.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        CartErrors,
    )
)]
pub(crate) async fn add_cart_lines(
    State(gateway): State<LiveGateway>,
    caller: Caller,
    headers: HeaderMap,
    path: PathParameters,
    body: JsonObject,
) -> Result<Response, Problem> {
    let (carts, caller) = (carts(&gateway)?, owner(&caller)?);
    let id = cart_id(&path)?;
    let mut reader = MembersReader::new(&body);
    let items = items(&mut reader, carts.config(), false);
    let items = reader.finish(items)?;
    let request = Request {
        caller,
        route: "add_cart_lines",
        headers: &headers,
        content: json!({ "cart": id.as_str(), "body": body.0 }),
    };
    let worker = carts.clone();
    Box::pin(once(carts, request, |begin| async move {
        document(worker.add_lines(&begin.asked, &id, &items).await?)
    }))
    .await
}

/// Sets how many there are of a line.
#[utoipa::path(
    patch,
    path = "/v1/cart/{cart_id}/lines/{line_id}",
    operation_id = "update_cart_line",
    tag = "Cart",
    params(("cart_id" = String, Path, description = "The cart."), ("line_id" = String, Path, description = "The line.")),
    request_body(content = LineBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The cart.", body = CartDocument, headers(("X-Request-Id" = String))),
        (status = 404, description = "The caller has no such cart.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        CartErrors,
    )
)]
pub(crate) async fn update_cart_line(
    State(gateway): State<LiveGateway>,
    caller: Caller,
    path: PathParameters,
    body: JsonObject,
) -> Result<Response, Problem> {
    let (carts, caller) = (carts(&gateway)?, owner(&caller)?);
    let (id, line) = (cart_id(&path)?, line_id(&path));
    let mut reader = MembersReader::new(&body);
    let quantity = quantity(&mut reader, carts.config());
    let quantity = reader.finish_with(path, quantity)?;
    let quantity = quantity.ok_or_else(|| Problem::new(ErrorCode::Internal))?;
    set(carts, caller, (id, line), quantity).await
}

/// Takes a line out of a cart. A group without lines is gone.
#[utoipa::path(
    delete,
    path = "/v1/cart/{cart_id}/lines/{line_id}",
    operation_id = "remove_cart_line",
    tag = "Cart",
    params(("cart_id" = String, Path, description = "The cart."), ("line_id" = String, Path, description = "The line.")),
    responses(
        (status = 200, description = "The cart.", body = CartDocument, headers(("X-Request-Id" = String))),
        (status = 404, description = "The caller has no such cart.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        CartErrors,
    )
)]
pub(crate) async fn remove_cart_line(
    State(gateway): State<LiveGateway>,
    caller: Caller,
    path: PathParameters,
) -> Result<Response, Problem> {
    let (carts, caller) = (carts(&gateway)?, owner(&caller)?);
    let (id, line) = (cart_id(&path)?, line_id(&path));
    api::QueryReader::new(None).finish(path, ())?;
    set(carts, caller, (id, line), 0).await
}

fn line_id(path: &PathParameters) -> String {
    path.text("line_id").unwrap_or_default().to_owned()
}

async fn set(
    carts: &crate::carts::Carts,
    caller: &str,
    (id, line): (crate::rules::carts::ids::CartId, String),
    quantity: u32,
) -> Result<Response, Problem> {
    let asked = Asked::once(caller).map_err(|failure| failure.problem())?;
    let carts = carts.clone();
    answered(async move { document(carts.set_line(&asked, &id, &line, quantity).await?) }).await
}
