//! HTTP routes, which parse the request, call one function and write the response.

mod carts;
mod catalogue;
mod checkouts;
mod constants;
mod described;
mod tools;

use std::sync::Arc;

use agents_mcp::{Mcp, McpParts};
use api::{OpenRouter, PathParameters, ProblemForm, described};
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::tools::UcpTools;
use crate::{BASE_PATH, Ucp, Version};

fn operations() -> OpenApiRouter<Ucp> {
    described("The Universal Commerce Protocol (UCP).")
        .routes(routes!(constants::get_ucp_profile))
        .routes(routes!(constants::get_ucp_profile_2026_08_25))
        .routes(routes!(constants::get_llms_txt))
        .routes(routes!(catalogue::ucp_search_catalog))
        .routes(routes!(catalogue::ucp_lookup_catalog))
        .routes(routes!(catalogue::ucp_get_product))
        .routes(routes!(carts::ucp_create_cart))
        .routes(routes!(carts::ucp_get_cart, carts::ucp_update_cart))
        .routes(routes!(carts::ucp_cancel_cart))
        .routes(routes!(checkouts::ucp_create_checkout))
        .routes(routes!(checkouts::ucp_get_checkout, checkouts::ucp_update_checkout))
        .routes(routes!(checkouts::ucp_complete_checkout))
        .routes(routes!(checkouts::ucp_cancel_checkout))
}

/// Returns the MCP routes of the first and of the later protocol version.
fn of_mcp() -> [OpenApiRouter<Mcp>; 2] {
    let about = "The Universal Commerce Protocol (UCP) over MCP.";
    [
        described(about).routes(routes!(tools::call_ucp_mcp)),
        described(about).routes(routes!(tools::call_ucp_mcp_2026_08_25)),
    ]
}

pub(crate) fn document() -> OpenApi {
    let mut document = operations().into_openapi();
    for tools in of_mcp() {
        document.merge(tools.into_openapi());
    }
    document
}

/// Returns all routes. `parts` configures the MCP endpoints.
pub(crate) fn open(ucp: &Ucp, parts: &McpParts) -> OpenRouter {
    let open = OpenRouter::of(operations(), ucp.clone()).problems_as(ProblemForm::CodeAndContent, BASE_PATH);
    let of_mcp = of_mcp().into_iter().zip(Version::ALL);
    let all = of_mcp.fold(open, |open, (router, version)| {
        let tools = Arc::new(UcpTools::new(ucp.clone(), version));
        open.merge(OpenRouter::of(
            router,
            Mcp::at(version.mcp_path(), parts.clone(), tools),
        ))
    });
    all.costing_more()
}

/// Returns the cart id in the path. A checkout has the id of its cart.
fn id(path: &PathParameters) -> &str {
    path.text("id").unwrap_or_default()
}
