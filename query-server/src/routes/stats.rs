use api::{GraphErrors, Problem};
use axum::extract::{Request, State};
use axum::response::Response;
use http::HeaderMap;

use super::write::written;
use crate::operations::Unless;
use crate::schema::StatsAnswer;
use crate::server::QueryServer;

/// Totals of the catalogue.
///
/// How many brands, products, variants, reviews and categories the current release has, when stores were last checked, and
/// which release it is.
#[utoipa::path(
    get,
    path = "/v1/stats",
    operation_id = "get_stats",
    tag = "Platform",
    responses(
        (status = 200, description = "The totals.", body = StatsAnswer<'static>,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn get_stats(State(server): State<QueryServer>, request: Request) -> Result<Response, Problem> {
    answer(&server, request.headers())
}

/// What [`get_stats`] answers a request that has these headers.
pub(super) fn answer(server: &QueryServer, headers: &HeaderMap) -> Result<Response, Problem> {
    Ok(written(Unless::Answer(server.stats()?), headers, &[]))
}
