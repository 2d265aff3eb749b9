use api::{GraphErrors, Problem};
use axum::extract::{Request, State};
use axum::response::Response;
use http::HeaderMap;

use super::write::written;
use crate::operations::Conditional;
use crate::schema::CategoriesAnswer;
use crate::server::QueryServer;

/// Returns the category tree without empty categories.
///
/// Categories are those of the Google product taxonomy. A category's count includes its descendants.
#[utoipa::path(
    get,
    path = "/v1/categories",
    operation_id = "list_categories",
    tag = "Discovery",
    responses(
        (status = 200, description = "The tree.", body = CategoriesAnswer<'static>,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn list_categories(State(server): State<QueryServer>, request: Request) -> Result<Response, Problem> {
    answer(&server, request.headers())
}

/// Answers [`list_categories`] for a request with these headers.
pub(super) fn answer(server: &QueryServer, headers: &HeaderMap) -> Result<Response, Problem> {
    Ok(written(Conditional::Answer(server.categories()?), headers, &[]))
}
