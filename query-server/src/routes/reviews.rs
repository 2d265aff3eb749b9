use api::{GraphErrors, IgnoredParameter, PathParameters, Problem, QueryReader};
use axum::extract::{Request, State};
use axum::response::Response;

use super::read;
use super::write::{known, written};
use crate::operations::{IfNoneMatch, ReviewsRequest};
use crate::schema::{ProductPath, ReviewsAnswer, ReviewsParameters};
use crate::server::QueryServer;

/// Returns a product's reviews, newest first.
///
/// Reviews come from the store's review app, if that app is supported and has reviews of the product. Otherwise reviews
/// come from the product's own page at the store. The list is empty if the store shows no reviews.
#[utoipa::path(
    get,
    path = "/v1/products/{ident}/reviews",
    operation_id = "list_reviews",
    tag = "Products",
    params(ProductPath, ReviewsParameters),
    responses(
        (status = 200, description = "A page of reviews.", body = ReviewsAnswer<'static>,
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
    let (asked, ignored) = asked(path, request.uri().query(), &server)?;
    let answered = server.reviews_unless(&asked, IfNoneMatch::by(&known(headers)))?;
    Ok(written(answered, headers, &ignored))
}

fn asked(
    path: PathParameters,
    query: Option<&str>,
    server: &QueryServer,
) -> Result<(ReviewsRequest, Vec<IgnoredParameter>), Problem> {
    let mut reader = QueryReader::new(query);
    let limit = read::limit(&mut reader);
    let offset = reader.optional("offset").integer(0..=i64::MAX);
    let cursor = read::cursor(&mut reader, server);
    let ignored = reader.ignored();
    let request = ReviewsRequest {
        product: read::product(reader, path)?,
        limit,
        offset: offset.and_then(|offset| usize::try_from(offset).ok()).unwrap_or(0),
        cursor,
    };
    Ok((request, ignored))
}
