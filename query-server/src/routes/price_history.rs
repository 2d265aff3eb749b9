use api::{GraphAnswer, GraphErrors, PathParameters, Problem};
use axum::extract::{Request, State};
use data_model::ErrorCode;

use super::page_tag_of;
use crate::cursor::Cursors;
use crate::plan::price_history::PriceHistoryPlan;
use crate::render::price_history;
use crate::schema::{PriceHistoryAnswer, PriceHistoryParameters};
use crate::server::QueryServer;

/// How a product's prices went, newest first.
///
/// One entry for every observed change of a variant: when it was first seen, when its price, list price or availability
/// changed, when it was gone. Each holds from `observed_at`, the end of the crawl that observed it, until the next one of
/// the same variant. At most the newest 1,000 are kept in a release; the lake keeps all. Empty where nothing is known.
#[utoipa::path(
    get,
    path = "/v1/products/{ident}/price-history",
    operation_id = "list_price_history",
    tag = "Products",
    params(("ident" = String, Path, description = "`sha:` and 40 hex digits, or a UUID.",
        pattern = "^(sha:[0-9a-fA-F]{40}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$"), PriceHistoryParameters),
    responses(
        (status = 200, description = "A page of observed changes.", body = PriceHistoryAnswer,
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
) -> Result<GraphAnswer, Problem> {
    let key = &server.0.config.cursor_key;
    let plan = PriceHistoryPlan::read(path, request.uri().query(), key)?;
    let served = server.served()?;
    let at = served
        .release
        .find(&plan.ident)
        .ok_or_else(|| Problem::new(ErrorCode::ProductNotFound))?;
    let part = served.release.part(at.part);
    let product = part.map(|part| part.cards().id(at.row).to_string()).unwrap_or_default();
    let list: [&[u8]; 3] = [served.stamp(), b"price-history", product.as_bytes()];
    let cursors = Cursors::new(key, &list);
    let start = match &plan.cursor {
        Some(cursor) => cursors.position(cursor)?,
        None => 0,
    };
    GraphAnswer::unless_known(request.headers(), page_tag_of(&served, key, request.uri()), || {
        let range = start..start.saturating_add(plan.limit);
        Ok(price_history::page(&served, at, range, |end| {
            cursors.write(u32::try_from(end).unwrap_or(u32::MAX))
        }))
    })
}
