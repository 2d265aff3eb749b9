use api::{GraphErrors, IgnoredParameter, PathParameters, Problem, QueryReader, Rule};
use axum::extract::{Request, State};
use axum::response::Response;
use data_model::{ErrorCode, Timestamp};

use super::read;
use super::write::{known, written};
use crate::operations::{ChangesRequest, IfNoneMatch};
use crate::schema::{ChangesAnswer, ChangesParameters};
use crate::server::QueryServer;

/// Products that came, changed or went since a moment.
///
/// A product is told when a crawl, or the store's live answer (`source`), observed one of its variants come, go, or change
/// in price, list price or availability, at `since` or later. To follow a market, ask again with the largest `changed_at`
/// of all pages; a product of that very moment comes twice. A page can be empty and have a `next_cursor`: go on until it is
/// null. A cursor ends with its release (`cursor_expired`): begin again with the same `since`. Products that left the market
/// stand in `gone`, behind all others: the last 20,000, whenever that was.
#[utoipa::path(
    get,
    path = "/v1/changes",
    operation_id = "list_changes",
    tag = "Products",
    params(ChangesParameters),
    responses(
        (status = 200, description = "A page of products that came, changed or went.", body = ChangesAnswer<'static>,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "No such brand.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn list_changes(State(server): State<QueryServer>, request: Request) -> Result<Response, Problem> {
    let headers = request.headers();
    let (asked, ignored) = asked(request.uri().query(), &server)?;
    let answered = server.changes_unless(asked, IfNoneMatch::by(&known(headers))).await?;
    Ok(written(answered, headers, &ignored))
}

fn asked(query: Option<&str>, server: &QueryServer) -> Result<(ChangesRequest, Vec<IgnoredParameter>), Problem> {
    let mut reader = QueryReader::new(query);
    let since = reader.required("since").parsed(|text| {
        text.parse::<Timestamp>()
            .map_err(|_| Rule::Value("a moment of RFC 3339, such as 2026-11-23T18:00:00Z"))
    });
    let brand = read::brand(&mut reader);
    let limit = read::limit(&mut reader);
    let cursor = read::cursor(&mut reader, server);
    let ignored = reader.ignored();
    let since = reader.finish(PathParameters::none(), since)?;
    let request = ChangesRequest {
        since: since.ok_or_else(|| Problem::new(ErrorCode::Internal))?,
        brand,
        limit,
        cursor,
    };
    Ok((request, ignored))
}
