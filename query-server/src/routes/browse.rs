use std::sync::Arc;

use api::{GraphAnswer, GraphErrors, PathParameters, Problem, if_none_match};
use axum::extract::{Request, State};

use super::page_tag_of;
use crate::browse::{Asked, Scope};
use crate::cursor::Cursors;
use crate::plan::browse::{BrowsePlan, LIST_MAX};
use crate::render::{card, envelope, facets, json};
use crate::schema::{BrandParameter, BrowseAnswer, FilterParameters, ListParameters};
use crate::served::Served;
use crate::server::QueryServer;

/// Faceted grid of a category, a brand, or a brand's products in a category.
///
/// Without `sort` the most presentable products stand first. The counts of a facet are those of the products that
/// pass every other filter: a facet's own filter does not narrow them, nor does the price range narrow `price`. They
/// tell what choosing a value would answer. Which facets are shown, in which order, and the limits of the histogram
/// follow from the category and the brand alone, so that they stand still while filters change: categories right below
/// the one that is browsed, then the facets that most products have, then tags; at most 12 facets of 50 values each.
/// What is filtered by is always shown, were it with a count of 0.
///
/// Prices of different currencies are never compared. A price filter or a price sort leaves out products in other
/// currencies than `currency`, from items and counts; `price` is about products in `currency` alone, always.
///
/// The list ends after 1,000 products. A cursor is good for the same filters and sort in the same release; `limit`
/// may change from page to page.
#[utoipa::path(
    get,
    path = "/v1/browse",
    operation_id = "browse",
    tag = "Discovery",
    params(BrandParameter, ListParameters, FilterParameters),
    responses(
        (status = 200, description = "One page with facets.", body = BrowseAnswer,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "No such category or brand.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn browse(State(server): State<QueryServer>, request: Request) -> Result<GraphAnswer, Problem> {
    let config = &server.0.config;
    let plan = BrowsePlan::read(request.uri().query(), config.market_currency, &config.cursor_key)?;
    answer(server, request, plan).await
}

/// A brand's catalogue: the same as `GET /v1/browse` with this brand.
#[utoipa::path(
    get,
    path = "/v1/brands/{slug}/products",
    operation_id = "list_brand_products",
    tag = "Discovery",
    params(("slug" = String, Path, description = "The brand's slug."), ListParameters, FilterParameters),
    responses(
        (status = 200, description = "One page with facets.", body = BrowseAnswer,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "No such brand or category.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn list_brand_products(
    State(server): State<QueryServer>,
    path: PathParameters,
    request: Request,
) -> Result<GraphAnswer, Problem> {
    let config = &server.0.config;
    let plan = BrowsePlan::read_brand(path, request.uri().query(), config.market_currency, &config.cursor_key)?;
    answer(server, request, plan).await
}

async fn answer(server: QueryServer, request: Request, plan: BrowsePlan) -> Result<GraphAnswer, Problem> {
    let served = server.served()?;
    let scope = plan.scope(&served.release)?;
    let key = plan.list_key(&scope);
    let inner = Arc::clone(&server.0);
    let start = match &plan.cursor {
        Some(cursor) => cursors(&inner.config.cursor_key, &served, &key).position(cursor)?,
        None => 0,
    };
    let tag = page_tag_of(&served, &inner.config.cursor_key, request.uri());
    if if_none_match(request.headers(), &tag) {
        return Ok(GraphAnswer::NotModified(tag));
    }
    let page = move || {
        let cursors = cursors(&inner.config.cursor_key, &served, &key);
        page(&served, &plan, (&scope, start), &cursors)
    };
    let body = server.0.searches.run(page).await?;
    Ok(GraphAnswer::Fresh(tag, body.into()))
}

fn cursors<'a>(key: &'a crate::config::CursorKey, served: &Served, list: &[u8]) -> Cursors<'a> {
    Cursors::new(key, &[served.stamp(), b"browse", list])
}

fn page(served: &Served, plan: &BrowsePlan, (scope, start): (&Scope<'_>, usize), cursors: &Cursors<'_>) -> Vec<u8> {
    let asked = Asked {
        filter: &plan.filter,
        order: plan.order,
        start,
        limit: plan.limit.min(LIST_MAX.saturating_sub(start)),
    };
    let browsed = served.browse.browse(&served.release, scope, &asked, plan.currency);
    let end = start + browsed.rows.len();
    let next = (browsed.more && end < LIST_MAX).then(|| cursors.write(u32::try_from(end).unwrap_or(u32::MAX)));
    let data = |out: &mut Vec<u8>| {
        json::object(out, |object| {
            object.array("items", &browsed.rows, |out, at| card::card(out, served, *at));
            facets::members(object, &browsed.counts);
            object.text_or_null("next_cursor", next.as_deref());
        });
    };
    let values: usize = browsed.counts.facets.iter().map(|facet| facet.values.len() + 1).sum();
    envelope(
        browsed.rows.len() * 640 + values * 64 + 1024,
        served.id_text(),
        data,
        |_| {},
    )
}
