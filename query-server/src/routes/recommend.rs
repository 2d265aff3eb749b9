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

/// Products that go with a product.
///
/// `related` (the default): like it, of any brand. `cross_brand`: like it, of other brands alone. `cheaper`: like it at a
/// lower price in the same currency, and of its category where that is known. `same_brand`: like it, of its own brand. `complement`: what is used with it, of
/// categories that go with its own; a product whose category is unknown, or goes with none, has none. Nothing is for other people than the product. What
/// is in stock stands first, prices that are far off stand behind, and at most half of the first cards, however many, are
/// of one brand unless there are no others of the same kind. What is too far off is left out, so that fewer may be answered than are
/// wanted; a shorter answer is the beginning of a longer one. The product itself is never among them, nor two of one title and brand. All are goods unless
/// `kind` asks for others, whatever the product is.
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
