use api::{GraphErrors, PathParameters, Problem, QueryReader};
use axum::extract::{Request, State};
use axum::response::Response;
use http::HeaderMap;

use super::write::written;
use crate::operations::Conditional;
use crate::reads::GroupBy;
use crate::schema::{StatsOrGroups, StatsParameters};
use crate::server::QueryServer;

/// Returns totals of the catalogue, or statistics by group.
///
/// The totals are the numbers of brands, products, variants, reviews and categories of the current release, the times
/// of the last checks of stores, and the release itself. With `by`, the answer has statistics of each brand, category
/// or currency: products, variants, numbers in stock and on sale, and the lowest, median and highest of the products'
/// lowest prices, by currency. There are at most 1,000 groups, those with most products first.
#[utoipa::path(
    get,
    path = "/v1/stats",
    operation_id = "get_stats",
    tag = "Platform",
    params(StatsParameters),
    responses(
        (status = 200, description = "The totals, or the statistics of each group.", body = StatsOrGroups<'static>,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn get_stats(State(server): State<QueryServer>, request: Request) -> Result<Response, Problem> {
    let mut reader = QueryReader::new(request.uri().query());
    let by = reader.optional("by").choice(&GroupBy::ALL, GroupBy::as_str);
    let ignored = reader.ignored();
    let answered = match reader.finish(PathParameters::none(), by)? {
        Some(by) => server.stats_by(by).await?,
        None => server.stats()?,
    };
    Ok(written(Conditional::Answer(answered), request.headers(), &ignored))
}

/// Answers [`get_stats`] for a request with these headers and without parameters.
pub(super) fn answer(server: &QueryServer, headers: &HeaderMap) -> Result<Response, Problem> {
    Ok(written(Conditional::Answer(server.stats()?), headers, &[]))
}
