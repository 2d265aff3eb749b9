//! HTTP routes: each reads parameters, calls one operation and writes the response.

mod accounts;
mod carts;
mod checkout;
mod coupons;
mod described;
mod prices;
mod probes;

use api::{EdgeConfig, EdgeRouter, OpenRouter, described};
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusHandle;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::coupons::Finder;
use crate::gateway::LiveGateway;

const ABOUT: &str = "The live tier returns current data of the brands' stores, and manages carts and checkouts there. \
    Money is in whole minor units with an ISO 4217 code.";

/// Returns the routes of the operations with their documentation.
fn operations() -> OpenApiRouter<LiveGateway> {
    described(ABOUT)
        .routes(routes!(prices::get_price))
        .routes(routes!(prices::get_prices))
        .routes(routes!(carts::create::create_cart))
        .routes(routes!(carts::create::get_cart, carts::create::end_cart))
        .routes(routes!(carts::lines::add_cart_lines, carts::lines::replace_cart_lines))
        .routes(routes!(carts::lines::update_cart_line, carts::lines::remove_cart_line))
        .routes(routes!(carts::codes::add_cart_discount))
        .routes(routes!(carts::codes::remove_cart_discount))
        .routes(routes!(carts::delivery::set_cart_address))
        .routes(routes!(carts::delivery::choose_cart_delivery))
        .routes(routes!(carts::optimize::optimize_cart))
        .routes(routes!(checkout::create_checkout))
        .routes(routes!(accounts::account_action))
}

/// Returns the route of the keys that verify tokens. Pages of any origin may read it.
fn keys() -> OpenApiRouter<LiveGateway> {
    described(ABOUT).routes(routes!(checkout::get_jwks))
}

fn coupons_operation() -> OpenApiRouter<Finder> {
    described(ABOUT).routes(routes!(coupons::find_coupons))
}

impl LiveGateway {
    /// Returns all routes of a server that is only a gateway, with the layers that every response needs.
    pub fn router(&self, edge: EdgeConfig, metrics: Option<PrometheusHandle>) -> EdgeRouter {
        self.open_router().merge(self.probes(metrics)).edge(edge)
    }

    /// Returns probes, and metrics if given, for a server that has other routes too.
    #[must_use]
    pub fn probes(&self, metrics: Option<PrometheusHandle>) -> OpenRouter {
        let probes = described(ABOUT)
            .routes(routes!(probes::health))
            .routes(routes!(probes::ready));
        let router = OpenRouter::of(probes, self.clone());
        match metrics {
            Some(handle) => router.route("/metrics", get(async move || api::metrics_answer(&handle))),
            None => router,
        }
    }

    /// Returns only probes and metrics, for a separate listener.
    pub fn ops_router(&self, edge: EdgeConfig, metrics: PrometheusHandle) -> EdgeRouter {
        self.probes(Some(metrics)).edge(edge)
    }

    /// Returns the routes of the operations, for a server that has other routes too.
    #[must_use]
    pub fn open_router(&self) -> OpenRouter {
        let keys = OpenRouter::of(keys(), self.clone()).read_by_any_origin();
        OpenRouter::of(operations(), self.clone()).costing_more().merge(keys)
    }

    /// Returns the OpenAPI description of the operations.
    #[must_use]
    pub fn openapi() -> OpenApi {
        operations().merge(keys()).into_openapi()
    }
}

impl Finder {
    /// Returns the route of the operation, for a server that has other routes too.
    #[must_use]
    pub fn open_router(&self) -> OpenRouter {
        OpenRouter::of(coupons_operation(), self.clone())
    }

    /// Returns the OpenAPI description of the operation.
    #[must_use]
    pub fn openapi() -> OpenApi {
        coupons_operation().into_openapi()
    }
}
