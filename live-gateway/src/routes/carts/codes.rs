use api::{JsonObject, MembersReader, Problem, QueryReader};
use axum::extract::RawQuery;
use axum::response::Response;
use data_model::ErrorCode;
use serde_json::json;

use super::asking::CartRequestContext;
use super::body::{brand, code};
use crate::routes::described::{CartErrors, CartOnce};
use crate::schema::carts::{CartDocument, DiscountBody};

/// Adds a discount code at one brand's store or at all stores of the cart.
///
/// Discount codes that are in the cart already stay. The store decides whether the code takes effect: `applicable`,
/// with the total discount on lines, order and shipping. A code that does not apply stays in the list, because it may
/// apply after the cart changes.
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

/// Removes a discount code at one brand's store or at all stores of the cart.
///
/// The other codes stay. Removing a code that is not in the cart is not an error.
#[utoipa::path(
    delete,
    path = "/v1/cart/{cart_id}/discount/{code}",
    operation_id = "remove_cart_discount",
    tag = "Cart",
    params(CartOnce, ("code" = String, Path, description = "The code."),
        ("brand" = Option<String>, Query, description = "Slug of the brand at whose store the code is removed. \
            Default: all stores of the cart.")),
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
