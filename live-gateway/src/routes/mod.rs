//! The routes: read parameters, call one operation, write.

mod accounts;
mod carts;
mod checkout;
mod coupons;
mod described;
mod prices;
mod probes;

use api::{OpenRouter, described};
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

/// The interface description of the operations.
pub(crate) fn document() -> OpenApi {
    operations().merge(keys()).into_openapi()
}

/// The operations' routes.
pub(crate) fn open(gateway: LiveGateway) -> OpenRouter {
    let keys = OpenRouter::of(keys(), gateway.clone()).read_by_any_origin();
    OpenRouter::of(operations(), gateway).merge(keys)
}

/// Probes, and metrics where they are shown.
pub(crate) fn probes(gateway: LiveGateway, metrics: Option<PrometheusHandle>) -> OpenRouter {
    let probes = described(ABOUT)
        .routes(routes!(probes::health))
        .routes(routes!(probes::ready));
    let router = OpenRouter::of(probes, gateway);
    match metrics {
        Some(handle) => router.route("/metrics", get(async move || api::metrics_answer(&handle))),
        None => router,
    }
}

/// The operation that finds discount codes.
pub(crate) fn coupons(finder: Finder) -> OpenRouter {
    OpenRouter::of(coupons_operation(), finder)
}

fn coupons_operation() -> OpenApiRouter<Finder> {
    described(ABOUT).routes(routes!(coupons::find_coupons))
}

/// Its interface description.
pub(crate) fn coupons_document() -> OpenApi {
    coupons_operation().into_openapi()
}
