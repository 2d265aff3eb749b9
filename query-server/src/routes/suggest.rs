use api::{GraphErrors, IgnoredParameter, PathParameters, Problem, QueryReader};
use axum::extract::{Request, State};
use axum::response::Response;

use super::read;
use super::write::{known, written};
use crate::operations::{IfNoneMatch, SuggestRequest};
use crate::schema::{SuggestAnswer, SuggestParameters};
use crate::server::QueryServer;

/// Typeahead suggestions.
///
/// The last word is taken for the beginning of one. `queries` are phrases of the catalogue that begin with what was
/// typed, then those of which a later word does, the most frequent first; `products` hold every word in their titles, in
/// any order, the most presentable first; `brands` and `categories` have a word in their names that begins so, those with
/// most products first. A word that nothing holds may be mistyped: from four letters on by one letter, from eight on by
/// two; its first letter counts. An empty `q` is answered with what is popular, one without letters or digits with
/// nothing.
#[utoipa::path(
    get,
    path = "/v1/suggest",
    operation_id = "suggest",
    tag = "Discovery",
    params(SuggestParameters),
    responses(
        (status = 200, description = "Suggestions, the best of each kind first.", body = SuggestAnswer<'static>,
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
