use std::sync::Arc;

use api::{GraphAnswer, GraphErrors, Problem, if_none_match};
use axum::extract::{Request, State};
use data_model::ErrorCode;

use super::{passing_tag_of, tag_of};
use crate::browse::of_search;
use crate::hybrid::{Question, explain, search};
use crate::plan::search::SearchPlan;
use crate::render::{card, envelope, facets, json};
use crate::schema::{FilterParameters, SearchAnswer, SearchParameters};
use crate::semantic::Lacking;
use crate::served::Served;
use crate::server::QueryServer;

/// Top ranked product cards for a query.
///
/// Capped; there are no pages and no total. `mode=hybrid` orders what is found by words and what is found by meaning
/// together; what only its meaning speaks for must be near enough to be meant. `provenance.engine` tells what was
/// searched with, and `provenance.degraded` why meaning was left out. In another order than that of relevance, meaning
/// answers only where words find nothing.
///
/// By words: every word of the query is asked for in some field; when fewer products than a page hold them all, the answer
/// goes on with products that lack one word, then with those that hold any (`provenance.relaxed`), and in `hybrid` with
/// what is near in meaning. Where twenty products or more hold every word, filters by price, stock, sale or facets leave
/// of them what they leave, as the counts tell, and nothing else is added unless that is nothing. A word that no product
/// holds is mended where a near one is known (`provenance.corrections`). A last word that no product holds, or none beside
/// the other words, is taken for the beginning of one (`provenance.relaxed` is `prefix`). Words that shoppers use for the same thing find each other,
/// the query's own standing before the others (`provenance.synonyms`). `mode=lexical` takes words as they are typed, in
/// any grammatical form, in one word or in two (told in `provenance.synonyms`): it mends and completes none and knows no
/// other words for the same; where too few products hold all words, it too goes on with those that lack some. A product whose title is the query stands first, then one
/// whose SKU or handle it is, then those of the brand whose name it is. Without a query the most presentable products are
/// answered. A price filter or a price sort leaves out products in other currencies.
///
/// An answer of fewer than twenty is the beginning of one of twenty.
///
/// `facet_counts=true` adds `provenance.facets` and `provenance.price`, as `GET /v1/browse` answers them: counted over
/// every product that the words match, however many are shown; where fewer than twenty hold every word, also what is shown
/// beside those, found by meaning or by fewer words, up to twenty or `limit`. What only fills a longer page is not counted.
/// `mode=semantic` and `similar_to` match to a degree, so there that alone is counted.
#[utoipa::path(
    get,
    path = "/v1/search",
    operation_id = "search_products",
    tag = "Discovery",
    params(SearchParameters, FilterParameters),
    responses(
        (status = 200, description = "Product cards, best first.", body = SearchAnswer,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "No product as `similar_to` names it.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn search_products(
    State(server): State<QueryServer>,
    request: Request,
) -> Result<GraphAnswer, Problem> {
    let config = &server.0.config;
    let plan = SearchPlan::read(request.uri().query(), config.market_currency, config.search_limit_max)?;
    let served = server.served()?;
    let tag = tag_of(&served, request.uri());
    if if_none_match(request.headers(), &tag) {
        return Ok(GraphAnswer::NotModified(tag));
    }
    let searches = &server.0.searches;
    let (held, waits) = (Arc::clone(&served), served.semantic.waits());
    let (body, whole) = if waits {
        searches.run_outside(move || answer(&held, &plan)).await??
    } else {
        searches.run(move || answer(&held, &plan)).await??
    };
    // What was answered without an embedder that may be there again next time is not what this tag stands for.
    let tag = if whole {
        tag
    } else {
        passing_tag_of(&served, request.uri())
    };
    Ok(GraphAnswer::Fresh(tag, body.into()))
}

/// The answer, and whether it will be the same as long as the release is.
fn answer(served: &Arc<Served>, plan: &SearchPlan) -> Result<(Vec<u8>, bool), Problem> {
    let (filter, scope) = (plan.filter(&served.release), plan.scope(&served.release));
    let similar_to = match &plan.similar_to {
        Some(ident) => Some(
            served
                .release
                .find(ident)
                .ok_or_else(|| Problem::new(ErrorCode::ProductNotFound))?,
        ),
        None => None,
    };
    let question = Question {
        text: &plan.text,
        mode: plan.mode,
        filter: filter.as_ref(),
        scope: scope.as_ref(),
        narrowed: plan.narrows(),
        order: plan.order,
        currency: plan.currency,
        limit: plan.limit,
        per_brand_max: plan.per_brand_max,
        similar_to,
        with_matches: plan.facet_counts,
    };
    let unreadable = |error| {
        tracing::error!(%error, release = served.id_text(), "the text index cannot be read");
        Problem::new(ErrorCode::Internal)
    };
    let found = search(served, &question).map_err(unreadable)?;
    let counts = plan.facet_counts.then(|| of_search(served, plan, &found));
    let cards = |out: &mut Vec<u8>| json::array(out, &found.rows, |out, row| card::card(out, served, row.at));
    let whole = found.degraded != Some(Lacking::Answer);
    let body = envelope(found.rows.len() * 640 + 256, served.id_text(), cards, |provenance| {
        provenance.text("engine", found.engine.as_str());
        provenance.text("requested_mode", plan.mode.as_str());
        provenance.text("relaxed", found.relaxed.as_str());
        provenance.array("corrections", &found.corrections, |out, correction| {
            json::object(out, |object| {
                object.text("from", &correction.from);
                object.text("to", &correction.to);
            });
        });
        provenance.text_or_null("degraded", found.degraded.map(Lacking::as_str));
        provenance.array("synonyms", &found.synonyms, |out, synonym| {
            json::object(out, |object| {
                object.text("of", &synonym.of);
                object.text("to", &synonym.to);
            });
        });
        if let Some(counts) = &counts {
            facets::members(provenance, counts);
        }
        if plan.explain {
            provenance.array("explain", &found.rows, |out, row| {
                if let Some(part) = served.release.part(row.at.part) {
                    explain(out, row, part.cards().id(row.at.row));
                }
            });
        }
    });
    Ok((body, whole))
}
