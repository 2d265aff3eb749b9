//! HTTP routes. Each route reads its parameters, calls one operation and writes the response.

mod brands;
mod browse;
mod categories;
mod changes;
mod clicks;
mod internal;
mod lookup;
mod offers;
mod pages;
mod price_history;
mod probes;
mod problem;
mod products;
mod read;
mod recommend;
mod reviews;
mod search;
mod shipping;
mod stats;
mod suggest;
mod write;

use std::sync::Arc;

use api::{Edge, EdgeRouter, OpenRouter, described};
use axum::Router;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use http::HeaderMap;
use metrics_exporter_prometheus::PrometheusHandle;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::internal::internal_router;
use crate::page;
use crate::server::QueryServer;

impl QueryServer {
    /// Returns the public routes with the complete edge. `metrics` provides the content of `/metrics`.
    pub fn router(&self, metrics: Option<PrometheusHandle>) -> EdgeRouter {
        self.open_router(metrics).edge(self.0.config.edge.clone())
    }

    /// Returns the public routes with their descriptions and constant answers, but without the edge. A program with
    /// several servers puts one edge around all routes. The page, the probes and, with `metrics`, `/metrics` are
    /// included, so no other server of the program may add them.
    pub fn open_router(&self, metrics: Option<PrometheusHandle>) -> OpenRouter {
        open_router(self, metrics)
    }

    /// Returns the gateway's routes, for a separate listener that the public cannot reach: `POST /internal/v1/resolve`,
    /// `GET /internal/v1/brand`, `GET /internal/v1/shop`, the probes, and the operations on stored data, which a
    /// gateway calls on behalf of agents. The routes have no rate limit and are not in the OpenAPI description.
    pub fn internal_router(&self) -> EdgeRouter {
        internal_router(self).edge(self.0.config.edge.clone())
    }

    /// Returns only probes and metrics, for a separate listener.
    pub fn ops_router(&self, metrics: PrometheusHandle) -> EdgeRouter {
        let (router, patterns) = ops_router(self.clone(), metrics);
        Edge::new(self.0.config.edge.clone()).around(router, patterns)
    }

    /// Returns the OpenAPI description that `/openapi.json` serves.
    #[must_use]
    pub fn openapi() -> OpenApi {
        operations().into_openapi()
    }
}

/// Registers the operations together with their documentation.
fn operations() -> OpenApiRouter<QueryServer> {
    described(
        "A market of many brands' stores. Money is in whole minor units with an ISO 4217 code. An operation ignores \
         unknown query parameters. `provenance.ignored` lists them, each with the parameter that was probably meant.",
    )
    .routes(routes!(search::search_products))
    .routes(routes!(suggest::suggest_while_typing))
    .routes(routes!(recommend::recommend_products))
    .routes(routes!(lookup::lookup_products))
    .routes(routes!(products::get_product))
    .routes(routes!(reviews::list_reviews))
    .routes(routes!(price_history::list_price_history))
    .routes(routes!(offers::list_offers))
    .routes(routes!(changes::list_changes))
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

/// Returns every public route without the edge. The edge itself answers frequent requests that need no work.
fn open_router(server: &QueryServer, metrics: Option<PrometheusHandle>) -> OpenRouter {
    // HTML documents read as much data as operations, so they count as requests too. Clicks count so that nobody can
    // send many.
    let documents = OpenRouter::default()
        .route("/products/{ident}", get(pages::product).with_state(server.clone()))
        .route("/brands/{slug}", get(pages::brand).with_state(server.clone()))
        .route("/clicks", post(clicks::count_click).with_state(server.clone()))
        .counted();
    let operations = OpenRouter::of(operations(), server.clone()).read_by_any_origin();
    let mut open = operations.merge(documents);
    for (path, asset) in page::parts() {
        let asset = Arc::new(asset);
        open = open.route(path, get(async move |headers: HeaderMap| asset.answer(&headers)));
    }
    if let Some(handle) = metrics {
        open = open.route("/metrics", get(async move || api::metrics_answer(&handle)));
    }
    let (of_stats, of_categories) = (server.clone(), server.clone());
    open.constant("/healthz", |_| probes::alive())
        .constant("/v1/stats", move |headers| {
            stats::answer(&of_stats, headers).into_response()
        })
        .constant("/v1/categories", move |headers| {
            categories::answer(&of_categories, headers).into_response()
        })
}

/// Returns probes and metrics without the edge, with their path patterns.
fn ops_router(server: QueryServer, metrics: PrometheusHandle) -> (Router, [&'static str; 3]) {
    let patterns = ["/healthz", "/readyz", "/metrics"];
    let router = Router::new()
        .route(patterns[0], get(probes::health))
        .route(patterns[1], get(probes::ready))
        .route(patterns[2], get(async move || api::metrics_answer(&metrics)));
    (router.with_state(server), patterns)
}
