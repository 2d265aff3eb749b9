//! The routes: read parameters, call one operation, write.

mod prices;
mod probes;

use api::{OpenRouter, common_components};
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusHandle;
use utoipa::openapi::{InfoBuilder, License, OpenApi, OpenApiBuilder, Server};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::gateway::LiveGateway;

/// A description without operations.
fn described() -> OpenApiRouter<LiveGateway> {
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
        .servers(Some([Server::new("/")]))
        .build();
    OpenApiRouter::with_openapi(document)
}

/// Operations with their documentation, from one registration.
fn operations() -> OpenApiRouter<LiveGateway> {
    described()
        .routes(routes!(prices::get_price))
        .routes(routes!(prices::get_prices))
}

/// The interface description of the operations.
pub(crate) fn document() -> OpenApi {
    operations().into_openapi()
}

/// The operations' routes.
pub(crate) fn open(gateway: LiveGateway) -> OpenRouter {
    without_edge(operations(), gateway)
}

/// Probes, and metrics where they are shown.
pub(crate) fn probes(gateway: LiveGateway, metrics: Option<PrometheusHandle>) -> OpenRouter {
    let probes = described()
        .routes(routes!(probes::health))
        .routes(routes!(probes::ready));
    let router = without_edge(probes, gateway);
    match metrics {
        Some(handle) => router.route("/metrics", get(async move || api::metrics_answer(&handle))),
        None => router,
    }
}

fn without_edge(router: OpenApiRouter<LiveGateway>, gateway: LiveGateway) -> OpenRouter {
    let (router, document) = router.split_for_parts();
    let patterns: Vec<String> = document.paths.paths.keys().cloned().collect();
    OpenRouter::new(router.with_state(gateway), patterns).described(document)
}
