//! The routes of the endpoint: read a request, ask the server, write.

mod manifest;
mod post;
mod schema;
mod stream;

use api::{OpenRouter, described};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::StatusCode;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use self::manifest::manifest;
pub(crate) use self::post::answered;
pub use self::schema::{McpBody, McpFaulted};
use crate::server::Mcp;

/// Operations with their documentation, from one registration.
fn operations() -> OpenApiRouter<Mcp> {
    described("The market as tools for agents.").routes(routes!(post::call_mcp, stream::open_mcp_stream))
}

pub(crate) fn document() -> OpenApi {
    operations().into_openapi()
}

pub(crate) fn open(mcp: &Mcp) -> OpenRouter {
    let manifest = api::Asset::new("application/json", mcp.0.manifest.to_string());
    let endpoint = OpenRouter::of(operations(), mcp.clone()).telling_networks();
    endpoint.route(
        "/server.json",
        get(async move |headers: http::HeaderMap| manifest.answer(&headers)),
    )
}

/// An answer without a body.
fn empty(status: StatusCode) -> Response {
    status.into_response()
}
