//! The routes of the endpoint: read a request, ask the server, write.

mod manifest;
mod post;
mod schema;
mod stream;

use api::{OpenRouter, common_components};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::StatusCode;
use utoipa::openapi::{InfoBuilder, License, OpenApi, OpenApiBuilder, Server};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use self::manifest::manifest;
use crate::server::Mcp;

/// Operations with their documentation, from one registration.
fn operations() -> OpenApiRouter<Mcp> {
    let info = InfoBuilder::new()
        .title("Commerce Discovery, Pricing and Cart API")
        .version("1.0")
        .description(Some("The market as tools for agents."))
        .license(Some(License::new("Apache-2.0")))
        .build();
    let document = OpenApiBuilder::new()
        .info(info)
        .components(Some(common_components()))
        .servers(Some([Server::new("/")]))
        .build();
    OpenApiRouter::with_openapi(document).routes(routes!(post::call_mcp, stream::open_mcp_stream))
}

pub(crate) fn document() -> OpenApi {
    operations().into_openapi()
}

pub(crate) fn open(mcp: &Mcp) -> OpenRouter {
    let (router, document) = operations().split_for_parts();
    let patterns: Vec<String> = document.paths.paths.keys().cloned().collect();
    let manifest = api::Asset::new("application/json", mcp.0.manifest.to_string());
    OpenRouter::new(router.with_state(mcp.clone()), patterns)
        .described(document)
        .route(
            "/server.json",
            get(async move |headers: http::HeaderMap| manifest.answer(&headers)),
        )
}

/// An answer without a body.
fn empty(status: StatusCode) -> Response {
    status.into_response()
}
