//! The routes: read parameters, call one operation, write.

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

const ABOUT: &str = "The live tier: what the brands' stores say now, carts over them, and their checkouts. Money is whole minor \
    units with an ISO 4217 code.";

/// Operations with their documentation, from one registration.
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

/// The keys with which anybody checks this server's tokens, from whatever page.
fn keys() -> OpenApiRouter<LiveGateway> {
    described(ABOUT).routes(routes!(checkout::get_jwks))
}

/// The operation that finds discount codes.
fn coupons_operation() -> OpenApiRouter<Finder> {
    described(ABOUT).routes(routes!(coupons::find_coupons))
}

impl LiveGateway {
    /// The routes of a server that is a gateway alone, with everything around them that an answer needs.
    pub fn router(&self, edge: EdgeConfig, metrics: Option<PrometheusHandle>) -> EdgeRouter {
        self.open_router().merge(self.probes(metrics)).edge(edge)
    }

    /// Probes, and metrics where they are shown, for a server that has other routes too.
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

    /// Probes and metrics alone, for a listener of their own.
    pub fn ops_router(&self, edge: EdgeConfig, metrics: PrometheusHandle) -> EdgeRouter {
        self.probes(Some(metrics)).edge(edge)
    }

    /// The operations' routes, for a server that has others too.
    #[must_use]
    pub fn open_router(&self) -> OpenRouter {
        let keys = OpenRouter::of(keys(), self.clone()).read_by_any_origin();
        OpenRouter::of(operations(), self.clone()).merge(keys)
    }

    /// The interface description of the operations.
    #[must_use]
    pub fn openapi() -> OpenApi {
        operations().merge(keys()).into_openapi()
    }
}

impl Finder {
    /// The operation's route, for a server that has others too.
    #[must_use]
    pub fn open_router(&self) -> OpenRouter {
        OpenRouter::of(coupons_operation(), self.clone())
    }

    /// The interface description of the operation.
    #[must_use]
    pub fn openapi() -> OpenApi {
        coupons_operation().into_openapi()
    }
}
