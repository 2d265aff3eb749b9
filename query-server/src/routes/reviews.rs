use api::{GraphErrors, PathParameters, Problem, QueryReader};
use axum::extract::{Request, State};
use axum::response::Response;
use data_model::ErrorCode;

use super::read;
use super::write::{known, written};
use crate::operations::{Known, ReviewsRequest};
use crate::schema::{ReviewsAnswer, ReviewsParameters};
use crate::server::QueryServer;

/// A product's reviews, newest first.
///
/// They are read from the product's own page at the store. Many stores show none, and the list is empty then.
#[utoipa::path(
    get,
    path = "/v1/products/{ident}/reviews",
    operation_id = "list_reviews",
    tag = "Products",
    params(("ident" = String, Path, description = "`sha:` and 40 hex digits, or a UUID.",
        pattern = "^(sha:[0-9a-fA-F]{40}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$"), ReviewsParameters),
    responses(
        (status = 200, description = "A page of reviews.", body = ReviewsAnswer,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "No such product.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn list_reviews(
    State(server): State<QueryServer>,
    path: PathParameters,
    request: Request,
) -> Result<Response, Problem> {
    let headers = request.headers();
    let asked = asked(path, request.uri().query(), &server)?;
    let answered = server.reviews_unless(&asked, Known::by(&known(headers)))?;
    Ok(written(answered, headers))
}

fn asked(mut path: PathParameters, query: Option<&str>, server: &QueryServer) -> Result<ReviewsRequest, Problem> {
    let mut reader = QueryReader::new(query);
    let product = path.product_ident("ident");
    let limit = read::limit(&mut reader);
    let offset = reader.optional("offset").integer(0..=i64::MAX);
    let cursor = read::cursor(&mut reader, server);
    let product = reader.finish(path, product)?;
    Ok(ReviewsRequest {
        product: product.ok_or_else(|| Problem::new(ErrorCode::Internal))?,
        limit,
        offset: offset.and_then(|offset| usize::try_from(offset).ok()).unwrap_or(0),
        cursor,
    })
}
