//! The routes: read parameters, call one operation, write.

mod prices;
mod probes;

use api::{Asset, common_components};
use axum::Router;
use axum::routing::get;
use http::HeaderMap;
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;
use utoipa::openapi::{InfoBuilder, License, OpenApi, OpenApiBuilder};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::gateway::LiveGateway;

/// Operations with their documentation, from one registration.
fn operations() -> OpenApiRouter<LiveGateway> {
    let info = InfoBuilder::new()
        .title("Commerce Discovery, Pricing and Cart API")
        .version("1.0")
        .description(Some(
            "The live tier: what the brands' stores say now. Money is whole minor units with an ISO 4217 code.",
        ))
        .license(Some(License::new("Apache-2.0")))
        .build();
    let document = OpenApiBuilder::new()
        .info(info)
        .components(Some(common_components()))
        .build();
    OpenApiRouter::with_openapi(document)
        .routes(routes!(prices::get_price))
        .routes(routes!(prices::get_prices))
}

/// The interface description of the operations.
pub(crate) fn document() -> OpenApi {
    operations().into_openapi()
}

/// The operations' routes, without the edge, and their patterns.
pub(crate) fn operations_router(gateway: LiveGateway) -> (Router, Vec<String>) {
    let (router, document) = operations().split_for_parts();
    (
        router.with_state(gateway),
        document.paths.paths.keys().cloned().collect(),
    )
}

/// Every route of a gateway alone, without the edge, and their patterns.
pub(crate) fn alone(gateway: LiveGateway, metrics: Option<PrometheusHandle>) -> (Router, Vec<String>) {
    let all = operations()
        .routes(routes!(probes::health))
        .routes(routes!(probes::ready));
    let (mut router, document) = all.split_for_parts();
    let mut patterns: Vec<String> = document.paths.paths.keys().cloned().collect();
    // A document of our own making is always JSON.
    let document = Arc::new(Asset::new("application/json", document.to_json().unwrap_or_default()));
    patterns.push("/openapi.json".to_owned());
    router = router.route(
        "/openapi.json",
        get(async move |headers: HeaderMap| document.answer(&headers)),
    );
    if let Some(handle) = metrics {
        patterns.push("/metrics".to_owned());
        router = router.route("/metrics", get(async move || api::metrics_answer(&handle)));
    }
    (router.with_state(gateway), patterns)
}
