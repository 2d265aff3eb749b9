use api::{GraphAnswer, GraphErrors, Problem, if_none_match};
use axum::extract::{Request, State};

use super::tag_of;
use crate::plan::suggest::SuggestPlan;
use crate::render::{envelope, suggested};
use crate::schema::{SuggestAnswer, SuggestParameters};
use crate::server::QueryServer;
use crate::suggest::suggest;

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
        (status = 200, description = "Suggestions, the best of each kind first.", body = SuggestAnswer,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn suggest_while_typing(
    State(server): State<QueryServer>,
    request: Request,
) -> Result<GraphAnswer, Problem> {
    let plan = SuggestPlan::read(request.uri().query())?;
    let served = server.served()?;
    let tag = tag_of(&served, request.uri());
    if if_none_match(request.headers(), &tag) {
        return Ok(GraphAnswer::NotModified(tag));
    }
    let answer = move || {
        let found = suggest(&served, &plan.text, plan.limit);
        let data = |out: &mut Vec<u8>| suggested::suggested(out, &served, &found);
        envelope(found.products.len() * 640 + 2_048, served.id_text(), data, |_| {})
    };
    let body: Vec<u8> = server.0.searches.run(answer).await?;
    Ok(GraphAnswer::Fresh(tag, body.into()))
}
