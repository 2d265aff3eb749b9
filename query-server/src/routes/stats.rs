use api::{GraphAnswer, GraphErrors, Problem, if_none_match};
use axum::extract::{Request, State};

use super::tag_of;
use crate::schema::StatsAnswer;
use crate::server::QueryServer;

/// Totals of the catalogue.
#[utoipa::path(
    get,
    path = "/v1/stats",
    operation_id = "get_stats",
    tag = "Platform",
    responses(
        (status = 200, description = "The totals.", body = StatsAnswer,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn get_stats(State(server): State<QueryServer>, request: Request) -> Result<GraphAnswer, Problem> {
    let served = server.served()?;
    let tag = tag_of(&served, request.uri());
    if if_none_match(request.headers(), &tag) {
        return Ok(GraphAnswer::NotModified(tag));
    }
    Ok(GraphAnswer::Fresh(tag, served.stats.clone()))
}
