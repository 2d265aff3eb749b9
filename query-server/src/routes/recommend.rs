use api::{GraphErrors, IgnoredParameter, PathParameters, Problem, QueryReader, product_ident};
use axum::extract::{Request, State};
use axum::response::Response;
use data_model::ErrorCode;
use search::Intent;

use super::read;
use super::write::{known, written};
use crate::operations::{IfNoneMatch, RecommendRequest};
use crate::schema::{RecommendAnswer, RecommendParameters};
use crate::server::QueryServer;

/// Recommends products that go with a product.
///
/// `related` (the default): similar products of any brand. `cross_brand`: similar products of other brands. `cheaper`:
/// similar products at a lower price in the same currency, and in the category of the given product if known.
/// `same_brand`: similar products of the brand of the given product. `complement`: products used together with the
/// given product, from complementary categories; there are no complements if the product's category is unknown or has
/// no complementary category. Products for another audience (such as men or children) than the given product are
/// excluded. Products in stock come first, and products with a very different price come last. At most half of the
/// first cards are of one brand, unless no other brand has products of the same kind. Products that are too different
/// are excluded, so the answer may be shorter than requested. An answer with a lower limit is the start of an answer
/// with a higher limit. The given product is never included, and no two products have the same title and brand. Only
/// goods are recommended unless `kind` requests other kinds, whatever the given product is.
#[utoipa::path(
    get,
    path = "/v1/recommend",
    operation_id = "recommend",
    tag = "Discovery",
    params(RecommendParameters),
    responses(
        (status = 200, description = "Product cards, best first.", body = RecommendAnswer<'static>,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "No such product.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn recommend_products(
    State(server): State<QueryServer>,
    request: Request,
) -> Result<Response, Problem> {
    let headers = request.headers();
    let (asked, ignored) = asked(request.uri().query())?;
    let is_known = known(headers);
    let answered = server.recommend_unless(asked, IfNoneMatch::by(&is_known)).await?;
    Ok(written(answered, headers, &ignored))
}

fn asked(query: Option<&str>) -> Result<(RecommendRequest, Vec<IgnoredParameter>), Problem> {
    let mut reader = QueryReader::new(query);
    let product = reader.required("product_id").parsed(product_ident);
    let intent = reader
        .optional("intent")
        .choice(&Intent::ALL, Intent::as_str)
        .unwrap_or_default();
    let kinds = read::kinds(&mut reader);
    let limit = read::limit(&mut reader);
    let ignored = reader.ignored();
    let product = reader.finish(PathParameters::none(), product)?;
    let request = RecommendRequest {
        product: product.ok_or_else(|| Problem::new(ErrorCode::Internal))?,
        intent,
        kinds,
        limit,
    };
    Ok((request, ignored))
}
