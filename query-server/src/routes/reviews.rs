use api::{GraphAnswer, GraphErrors, PathParameters, Problem};
use axum::extract::{Request, State};
use data_model::ErrorCode;

use super::page_tag_of;
use crate::cursor::Cursors;
use crate::plan::reviews::ReviewsPlan;
use crate::render::review;
use crate::schema::{ReviewsAnswer, ReviewsParameters};
use crate::server::QueryServer;

/// A product's reviews, newest first.
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
) -> Result<GraphAnswer, Problem> {
    let key = &server.0.config.cursor_key;
    let plan = ReviewsPlan::read(path, request.uri().query(), key)?;
    let served = server.served()?;
    let at = served
        .release
        .find(&plan.ident)
        .ok_or_else(|| Problem::new(ErrorCode::ProductNotFound))?;
    let product = served
        .release
        .part(at.part)
        .map(|part| part.cards().id(at.row).to_string())
        .unwrap_or_default();
    let list: [&[u8]; 3] = [served.stamp(), b"reviews", product.as_bytes()];
    let cursors = Cursors::new(key, &list);
    let start = match &plan.cursor {
        // The cursor wins over the offset.
        Some(cursor) => cursors.position(cursor)?,
        None => plan.offset,
    };
    GraphAnswer::unless_known(request.headers(), page_tag_of(&served, key, request.uri()), || {
        let range = start..start.saturating_add(plan.limit);
        Ok(review::page(&served, at, range, |end| {
            cursors.write(u32::try_from(end).unwrap_or(u32::MAX))
        }))
    })
}
