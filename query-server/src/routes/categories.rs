use api::{GraphAnswer, GraphErrors, Problem, if_none_match};
use axum::extract::{Request, State};

use super::tag_of;
use crate::schema::CategoriesAnswer;
use crate::server::QueryServer;

/// The category tree, pruned to what the catalogue holds; a category's count includes its descendants.
#[utoipa::path(
    get,
    path = "/v1/categories",
    operation_id = "list_categories",
    tag = "Discovery",
    responses(
        (status = 200, description = "The tree.", body = CategoriesAnswer,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn list_categories(
    State(server): State<QueryServer>,
    request: Request,
) -> Result<GraphAnswer, Problem> {
    let served = server.served()?;
    let tag = tag_of(&served, request.uri());
    if if_none_match(request.headers(), &tag) {
        return Ok(GraphAnswer::NotModified(tag));
    }
    Ok(GraphAnswer::Fresh(tag, served.categories.clone()))
}
