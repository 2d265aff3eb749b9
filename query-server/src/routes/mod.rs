//! The routes, and one handler an operation: read the plan, take the release, run the operation, answer.

mod brands;
mod browse;
mod categories;
mod price_history;
mod probes;
mod products;
mod recommend;
mod reviews;
mod search;
mod shipping;
mod stats;
mod suggest;

use std::sync::Arc;

use api::{Asset, Edge, EntityTag, common_components};
use axum::Router;
use axum::response::IntoResponse;
use axum::routing::get;
use http::{HeaderMap, Uri};
use metrics_exporter_prometheus::PrometheusHandle;
use utoipa::openapi::{InfoBuilder, License, OpenApi, OpenApiBuilder};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::checks::CheckedAnswers;
use crate::config::CursorKey;
use crate::page;
use crate::served::Served;
use crate::server::QueryServer;

/// Operations with their documentation, from one registration.
fn operations() -> OpenApiRouter<QueryServer> {
    let info = InfoBuilder::new()
        .title("Commerce Discovery, Pricing and Cart API")
        .version("1.0")
        .description(Some(
            "One market of many brand stores. Money is whole minor units with an ISO 4217 code.",
        ))
        .license(Some(License::new("Apache-2.0")))
        .build();
    let document = OpenApiBuilder::new()
        .info(info)
        .components(Some(common_components()))
        .build();
    OpenApiRouter::with_openapi(document)
        .routes(routes!(search::search_products))
        .routes(routes!(suggest::suggest_while_typing))
        .routes(routes!(recommend::recommend_products))
        .routes(routes!(products::get_product))
        .routes(routes!(reviews::list_reviews))
        .routes(routes!(price_history::list_price_history))
        .routes(routes!(brands::list_brands))
        .routes(routes!(brands::get_brand))
        .routes(routes!(browse::list_brand_products))
        .routes(routes!(browse::browse))
        .routes(routes!(categories::list_categories))
        .routes(routes!(shipping::get_shipping))
        .routes(routes!(stats::get_stats))
        .routes(routes!(probes::health))
        .routes(routes!(probes::ready))
}

/// The interface description.
pub(crate) fn document() -> OpenApi {
    operations().into_openapi()
}

/// Every route, without the edge, and their patterns.
pub(crate) fn router(server: QueryServer, metrics: Option<PrometheusHandle>) -> (Router, Vec<String>) {
    let (mut router, document) = operations().split_for_parts();
    let mut patterns: Vec<String> = document.paths.paths.keys().cloned().collect();
    let mut add = |path: &str, route| {
        patterns.push(path.to_owned());
        router = std::mem::take(&mut router).route(path, route);
    };
    // A document of our own making is always JSON.
    let document = Asset::new("application/json", document.to_json().unwrap_or_default());
    for (path, asset) in page::parts().chain([("/openapi.json", document)]) {
        let asset = Arc::new(asset);
        add(path, get(async move |headers: HeaderMap| asset.answer(&headers)));
    }
    if let Some(handle) = metrics {
        add("/metrics", get(async move || api::metrics_answer(&handle)));
    }
    (router.with_state(server), patterns)
}

/// Probes and metrics, without the edge, and their patterns.
pub(crate) fn ops_router(server: QueryServer, metrics: PrometheusHandle) -> (Router, [&'static str; 3]) {
    let patterns = ["/healthz", "/readyz", "/metrics"];
    let router = Router::new()
        .route(patterns[0], get(probes::health))
        .route(patterns[1], get(probes::ready))
        .route(patterns[2], get(async move || api::metrics_answer(&metrics)));
    (router.with_state(server), patterns)
}

/// Has the edge answer by itself what is asked often and needs no work.
pub(crate) fn constants(edge: Edge, server: &QueryServer) -> Edge {
    let (of_stats, of_categories) = (server.clone(), server.clone());
    edge.constant("/healthz", |_| probes::alive())
        .constant("/v1/stats", move |headers| {
            stats::answer(&of_stats, headers).into_response()
        })
        .constant("/v1/categories", move |headers| {
            categories::answer(&of_categories, headers).into_response()
        })
}

/// The entity tag of the answer to `uri` from this release.
fn tag_of(served: &Served, uri: &Uri) -> EntityTag {
    let query = uri.query().unwrap_or_default();
    EntityTag::of(&[served.stamp(), uri.path().as_bytes(), query.as_bytes()])
}

/// The entity tag of an answer that tells of the stores' last checks too; `more` is what else it follows from.
fn checked_tag_of(served: &Served, checked: &CheckedAnswers, more: &[u8], uri: &Uri) -> EntityTag {
    let query = uri.query().unwrap_or_default();
    let (served, checked, path) = (served.stamp(), checked.stamp(), uri.path().as_bytes());
    EntityTag::of(&[served, checked, more, path, query.as_bytes()])
}

/// The entity tag of a page of a list: its cursor is signed, so servers with other keys answer other bytes.
fn page_tag_of(served: &Served, key: &CursorKey, uri: &Uri) -> EntityTag {
    let query = uri.query().unwrap_or_default();
    EntityTag::of(&[served.stamp(), key.bytes(), uri.path().as_bytes(), query.as_bytes()])
}

/// The entity tag of an answer to `uri` that the next one need not equal.
fn passing_tag_of(served: &Served, uri: &Uri) -> EntityTag {
    let query = uri.query().unwrap_or_default();
    EntityTag::of(&[served.stamp(), b"passing", uri.path().as_bytes(), query.as_bytes()])
}
