use api::{GraphErrors, IgnoredParameter, PathParameters, Problem, QueryReader};
use axum::extract::{Request, State};
use axum::response::Response;

use super::read;
use super::write::{known, written};
use crate::operations::{IfNoneMatch, PriceHistoryRequest};
use crate::schema::{PriceHistoryAnswer, PriceHistoryParameters, ProductPath};
use crate::server::QueryServer;

/// Returns a product's price history, newest first.
///
/// There is one entry for each observed change of a variant: it was first seen, its price, list price or availability
/// changed, or it was removed. An entry is valid from `observed_at` until the next entry of the same variant.
/// `observed_at` is the end of the crawl, or the time of the store's live answer (`source`). A release keeps at most
/// the newest 1,000 entries; the lake keeps all. The list is empty if nothing is known.
#[utoipa::path(
    get,
    path = "/v1/products/{ident}/price-history",
    operation_id = "list_price_history",
    tag = "Products",
    params(ProductPath, PriceHistoryParameters),
    responses(
        (status = 200, description = "One page of observed price changes.", body = PriceHistoryAnswer<'static>,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "No such product.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn list_price_history(
    State(server): State<QueryServer>,
    path: PathParameters,
    request: Request,
) -> Result<Response, Problem> {
    let headers = request.headers();
    let (asked, ignored) = asked(path, request.uri().query(), &server)?;
    let answered = server.price_history_unless(&asked, IfNoneMatch::by(&known(headers)))?;
    Ok(written(answered, headers, &ignored))
}

fn asked(
    path: PathParameters,
    query: Option<&str>,
    server: &QueryServer,
) -> Result<(PriceHistoryRequest, Vec<IgnoredParameter>), Problem> {
    let mut reader = QueryReader::new(query);
    let limit = read::limit(&mut reader);
    let cursor = read::cursor(&mut reader, server);
    let ignored = reader.ignored();
    let request = PriceHistoryRequest {
        product: read::product(reader, path)?,
        limit,
        cursor,
    };
    Ok((request, ignored))
}
