use api::{GraphErrors, IgnoredParameter, PathParameters, Problem, QueryReader, Rule};
use axum::extract::{Request, State};
use axum::response::Response;

use super::read;
use super::write::{known, written};
use crate::operations::{IfNoneMatch, Include, ProductRequest};
use crate::schema::{IncludeParameters, ProductAnswer, ProductPath};
use crate::server::QueryServer;

/// Returns one product with the parts named by `include`.
///
/// Prices are the stored snapshot, not the live price. `provenance.refreshed_at` is the time at which the brand's
/// catalogue was first seen in its current form. Parts that are not included are absent. With `pincode`, the product
/// has `delivery`, like cards do.
#[utoipa::path(
    get,
    path = "/v1/products/{ident}",
    operation_id = "get_product",
    tag = "Products",
    params(ProductPath, IncludeParameters),
    responses(
        (status = 200, description = "The product.", body = ProductAnswer<'static>,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "No such product.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn get_product(
    State(server): State<QueryServer>,
    path: PathParameters,
    request: Request,
) -> Result<Response, Problem> {
    let headers = request.headers();
    let (asked, ignored) = asked(path, request.uri().query())?;
    let answered = server.product_unless(&asked, IfNoneMatch::by(&known(headers)))?;
    Ok(written(answered, headers, &ignored))
}

fn asked(path: PathParameters, query: Option<&str>) -> Result<(ProductRequest, Vec<IgnoredParameter>), Problem> {
    let mut reader = QueryReader::new(query);
    let parts = reader.words("include", 200);
    let mut include = if parts.is_empty() {
        Include::default()
    } else {
        Include::NONE
    };
    for part in parts {
        if !include.add(&part) {
            reader.refuse("include", &Rule::Enum(Include::NAMES.to_vec()), Some(part.into()));
        }
    }
    let pincode = read::pincode(&mut reader);
    let ignored = reader.ignored();
    let request = ProductRequest {
        product: read::product(reader, path)?,
        include,
        pincode,
    };
    Ok((request, ignored))
}
