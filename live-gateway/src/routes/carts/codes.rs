use api::{Caller, JsonObject, MembersReader, PathParameters, Problem, QueryReader};
use axum::extract::{RawQuery, State};
use axum::response::Response;
use data_model::ErrorCode;
use http::HeaderMap;
use serde_json::json;

use super::body::{brand, code};
use super::{CartDocument, answered, cart_id, carts, document, owner};
use crate::carts::Asked;
use crate::carts::schema::DiscountBody;
use crate::gateway::LiveGateway;
use crate::idempotent::{Request, once};
use crate::routes::errors::CartErrors;

/// Puts a discount code in, at one brand's store or at all of them.
///
/// The code joins those that are there. Whether it takes effect is the store's own verdict: `applicable`, with what it
/// takes off lines, order and shipping together. A code that does not stays in the list, for it may once the cart has
/// changed.
#[utoipa::path(
    post,
    path = "/v1/cart/{cart_id}/discount",
    operation_id = "add_cart_discount",
    tag = "Cart",
    params(("cart_id" = String, Path, description = "The cart."),
        ("Idempotency-Key" = Option<String>, Header, description = "Printable ASCII, 1 to 255 characters. The same request under the same key is done once; its answer is kept for a day.")),
    request_body(content = DiscountBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The cart.", body = CartDocument, headers(("X-Request-Id" = String))),
        (status = 404, description = "The caller has no such cart, or the cart has nothing of the brand.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        CartErrors,
    )
)]
pub(crate) async fn add_cart_discount(
    State(gateway): State<LiveGateway>,
    caller: Caller,
    headers: HeaderMap,
    path: PathParameters,
    body: JsonObject,
) -> Result<Response, Problem> {
    let (carts, caller) = (carts(&gateway)?, owner(&caller)?);
    let id = cart_id(&path)?;
    let mut reader = MembersReader::new(&body);
    let code = reader.required("code").parsed(code);
    let brand = reader.optional("brand").parsed(brand);
    let (code, brand) = reader.finish((code, brand))?;
    let code = code.ok_or_else(|| Problem::new(ErrorCode::Internal))?;
    let request = Request {
        caller,
        route: "add_cart_discount",
        headers: &headers,
        content: json!({ "cart": id.as_str(), "body": body.0 }),
    };
    let worker = carts.clone();
    Box::pin(once(carts, request, |begin| async move {
        document(worker.add_code(&begin.asked, &id, &code, brand.as_deref()).await?)
    }))
    .await
}

/// Takes a discount code out, at one brand's store or at all of them.
#[utoipa::path(
    delete,
    path = "/v1/cart/{cart_id}/discount/{code}",
    operation_id = "remove_cart_discount",
    tag = "Cart",
    params(("cart_id" = String, Path, description = "The cart."), ("code" = String, Path, description = "The code."),
        ("brand" = Option<String>, Query, description = "The brand at whose store it is taken out, by slug; without it all stores of the cart.")),
    responses(
        (status = 200, description = "The cart.", body = CartDocument, headers(("X-Request-Id" = String))),
        (status = 404, description = "The caller has no such cart, or the cart has nothing of the brand.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        CartErrors,
    )
)]
pub(crate) async fn remove_cart_discount(
    State(gateway): State<LiveGateway>,
    caller: Caller,
    RawQuery(query): RawQuery,
    mut path: PathParameters,
) -> Result<Response, Problem> {
    let (carts, caller) = (carts(&gateway)?.clone(), owner(&caller)?);
    let id = cart_id(&path)?;
    let mut reader = QueryReader::new(query.as_deref());
    let brand = reader.optional("brand").parsed(brand);
    let given = path.text("code").unwrap_or_default().to_owned();
    let code = code(&given).map_err(|rule| path.refuse("code", &rule, &given)).ok();
    let (code, brand) = reader.finish(path, (code, brand))?;
    let code = code.ok_or_else(|| Problem::new(ErrorCode::Internal))?;
    let asked = Asked::once(caller).map_err(|failure| failure.problem())?;
    answered(async move { document(carts.remove_code(&asked, &id, &code, brand.as_deref()).await?) }).await
}
