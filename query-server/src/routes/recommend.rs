use api::{GraphAnswer, GraphErrors, Problem, if_none_match};
use axum::extract::{Request, State};
use data_model::ErrorCode;

use super::tag_of;
use crate::plan::recommend::RecommendPlan;
use crate::recommend::recommend;
use crate::render::{card, envelope, json};
use crate::schema::{RecommendAnswer, RecommendParameters};
use crate::server::QueryServer;

/// Products that go with a product.
///
/// `related` (the default): like it, of any brand. `cross_brand`: like it, of other brands alone. `cheaper`: like it at a
/// lower price in the same currency. `same_brand`: like it, of its own brand. `complement`: what goes with it: another
/// leaf of the same branch of the taxonomy, with something in common; a product whose category is unknown has none. What
/// is in stock stands first, prices that are far off stand behind, and at most half of the cards are of one brand unless
/// no others are found as near. The product itself is never among them, nor two of one title and brand.
#[utoipa::path(
    get,
    path = "/v1/recommend",
    operation_id = "recommend",
    tag = "Discovery",
    params(RecommendParameters),
    responses(
        (status = 200, description = "Product cards, best first.", body = RecommendAnswer,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "No such product.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn recommend_products(
    State(server): State<QueryServer>,
    request: Request,
) -> Result<GraphAnswer, Problem> {
    let plan = RecommendPlan::read(request.uri().query())?;
    let served = server.served()?;
    let at = served
        .release
        .find(&plan.ident)
        .ok_or_else(|| Problem::new(ErrorCode::ProductNotFound))?;
    let tag = tag_of(&served, request.uri());
    if if_none_match(request.headers(), &tag) {
        return Ok(GraphAnswer::NotModified(tag));
    }
    let answer = move || {
        let found = recommend(&served, at, plan.intent, plan.limit).map_err(|error| {
            tracing::error!(%error, release = served.id_text(), "the text index cannot be read");
            Problem::new(ErrorCode::Internal)
        })?;
        let cards = |out: &mut Vec<u8>| json::array(out, &found.rows, |out, at| card::card(out, &served, *at));
        Ok(envelope(
            found.rows.len() * 640 + 256,
            served.id_text(),
            cards,
            |provenance| {
                provenance.text("engine", found.engine);
                provenance.text("intent", plan.intent.as_str());
            },
        ))
    };
    let body: Vec<u8> = server.0.searches.run(answer).await??;
    Ok(GraphAnswer::Fresh(tag, body.into()))
}
