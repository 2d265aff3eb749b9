use api::{JsonObject, MembersReader, Problem, QueryReader};
use axum::extract::RawQuery;
use axum::response::Response;
use data_model::ErrorCode;
use serde_json::json;

use super::asking::CartRequestContext;
use super::body::{brand, code};
use crate::routes::described::{CartErrors, CartOnce};
use crate::schema::carts::{CartDocument, DiscountBody};

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
    params(CartOnce),
    request_body(content = DiscountBody, content_type = "application/json"),
    responses((status = 200, description = "The cart.", body = CartDocument, headers(("X-Request-Id" = String))), CartErrors)
)]
pub(crate) async fn add_cart_discount(of: CartRequestContext, body: JsonObject) -> Result<Response, Problem> {
    let mut reader = MembersReader::new(&body);
    let code = reader.required("code").parsed(code);
    let brand = reader.optional("brand").parsed(brand);
    let (code, brand) = reader.finish((code, brand))?;
    let code = code.ok_or_else(|| Problem::new(ErrorCode::Internal))?;
    let id = of.cart;
    let content = json!({ "cart": id.as_str(), "body": body.0 });
    of.asking
        .once("add_cart_discount", content, |checkouts, begin| async move {
            checkouts
                .carts
                .add_code(&begin.asked, &id, &code, brand.as_deref())
                .await
        })
        .await
}

/// Takes a discount code out, at one brand's store or at all of them.
///
/// The other codes stay. A code that is not there is no fault.
#[utoipa::path(
    delete,
    path = "/v1/cart/{cart_id}/discount/{code}",
    operation_id = "remove_cart_discount",
    tag = "Cart",
    params(CartOnce, ("code" = String, Path, description = "The code."),
        ("brand" = Option<String>, Query, description = "The brand at whose store it is taken out, by slug; without it all stores of the cart.")),
    responses((status = 200, description = "The cart.", body = CartDocument, headers(("X-Request-Id" = String))), CartErrors)
)]
pub(crate) async fn remove_cart_discount(
    mut of: CartRequestContext,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let mut reader = QueryReader::new(query.as_deref());
    let brand = reader.optional("brand").parsed(brand);
    let given = of.path.text("code").unwrap_or_default().to_owned();
    let code = code(&given).map_err(|rule| of.path.refuse("code", &rule, &given)).ok();
    let (code, brand) = reader.finish(of.path, (code, brand))?;
    let code = code.ok_or_else(|| Problem::new(ErrorCode::Internal))?;
    let id = of.cart;
    let content = json!({ "cart": id.as_str(), "code": code, "brand": brand });
    of.asking
        .once("remove_cart_discount", content, |checkouts, begin| async move {
            checkouts
                .carts
                .remove_code(&begin.asked, &id, &code, brand.as_deref())
                .await
        })
        .await
}
