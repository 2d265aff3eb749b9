use api::{GraphErrors, IgnoredParameter, PathParameters, Problem, QueryReader};
use axum::extract::{Request, State};
use axum::response::Response;

use super::read;
use super::write::{known, written};
use crate::operations::{IfNoneMatch, SuggestRequest};
use crate::schema::{SuggestAnswer, SuggestParameters};
use crate::server::QueryServer;

/// Returns typeahead suggestions.
///
/// The last word is treated as a prefix. `queries` are phrases of the catalogue that start with the typed text, then
/// phrases in which a later word starts with the typed text, most frequent first. `products` have every word in their
/// titles, in any order, most presentable first. `brands` and `categories` have a word in their names that starts with
/// the text, ordered by number of products, highest first. If nothing matches a word, typing mistakes are allowed: one
/// letter from four letters on, two letters from eight on. The first letter must be right. An empty `q` returns popular
/// suggestions. A `q` without letters or digits returns nothing.
#[utoipa::path(
    get,
    path = "/v1/suggest",
    operation_id = "suggest",
    tag = "Discovery",
    params(SuggestParameters),
    responses(
        (status = 200, description = "Suggestions; the best of each kind come first.", body = SuggestAnswer<'static>,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn suggest_while_typing(
    State(server): State<QueryServer>,
    request: Request,
) -> Result<Response, Problem> {
    let headers = request.headers();
    let (asked, ignored) = asked(request.uri().query())?;
    let is_known = known(headers);
    let answered = server.suggest_unless(asked, IfNoneMatch::by(&is_known)).await?;
    Ok(written(answered, headers, &ignored))
}

fn asked(query: Option<&str>) -> Result<(SuggestRequest, Vec<IgnoredParameter>), Problem> {
    let mut reader = QueryReader::new(query);
    let request = SuggestRequest {
        text: read::text(&mut reader, true),
        limit: read::limit(&mut reader),
    };
    let ignored = reader.ignored();
    reader.finish(PathParameters::none(), (request, ignored))
}
