use api::{GraphErrors, IgnoredParameter, PathParameters, Problem, QueryReader, Rule};
use axum::extract::{Request, State};
use axum::response::Response;
use data_model::{ErrorCode, Timestamp};

use super::read;
use super::write::{known, written};
use crate::operations::{ChangesRequest, IfNoneMatch};
use crate::schema::{ChangesAnswer, ChangesParameters};
use crate::server::QueryServer;

/// Lists products that were added, changed or removed since a given time.
///
/// A product is listed if a crawl or the store's live answer (`source`) observed a change at `since` or later: a
/// variant was added or removed, or its price, list price or availability changed. To follow a market, repeat the
/// request with the largest `changed_at` of all pages; a product with exactly that time is listed again. A page may be
/// empty and still have a `next_cursor`; continue until it is null. A cursor ends with its release (`cursor_expired`);
/// then start again with the same `since`. Removed products are in `gone`, after all other products. Only the last
/// 20,000 removed products are listed, regardless of their age.
#[utoipa::path(
    get,
    path = "/v1/changes",
    operation_id = "list_changes",
    tag = "Products",
    params(ChangesParameters),
    responses(
        (status = 200, description = "One page of products that were added, changed or removed.",
            body = ChangesAnswer<'static>,
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
            .map_err(|_| Rule::Value("not a time in RFC 3339 format, such as 2026-11-23T18:00:00Z"))
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
