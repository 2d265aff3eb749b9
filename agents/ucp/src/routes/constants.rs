//! HTTP routes for documents that depend only on the configuration.

use api::MethodError;
use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;

use crate::profile::{constant, profile};
use crate::{Ucp, Version};

/// Returns this market's UCP profile, with its operations and their URLs.
///
/// Agents read this document first. The profile lists the versions, services and capabilities.
#[utoipa::path(
    get,
    path = "/.well-known/ucp",
    operation_id = "get_ucp_profile",
    tag = "Agents",
    responses(
        (status = 200, description = "The profile.", body = Object,
            headers(("ETag" = String), ("Cache-Control" = String), ("X-Request-Id" = String))),
        MethodError,
    )
)]
pub(super) async fn get_ucp_profile(State(ucp): State<Ucp>, headers: HeaderMap) -> Response {
    let profile = profile(&ucp.0.config, Version::V2026_04_08);
    constant(&headers, "application/json", profile.to_string())
}

/// Returns the profile for UCP version 2026-08-25, which is offered over MCP.
///
/// For agents that choose this version among the `supported_versions` of the profile.
#[utoipa::path(
    get,
    path = "/.well-known/ucp/2026-08-25",
    tag = "Agents",
    responses(
        (status = 200, description = "The profile.", body = Object,
            headers(("ETag" = String), ("Cache-Control" = String), ("X-Request-Id" = String))),
        MethodError,
    )
)]
pub(super) async fn get_ucp_profile_2026_08_25(State(ucp): State<Ucp>, headers: HeaderMap) -> Response {
    let profile = profile(&ucp.0.config, Version::V2026_08_25);
    constant(&headers, "application/json", profile.to_string())
}

/// Returns an introduction to this market for language models.
///
/// A Markdown text about the products that the market sells and the URLs of its pages and APIs.
#[utoipa::path(
    get,
    path = "/llms.txt",
    operation_id = "get_llms_txt",
    tag = "Agents",
    responses(
        (status = 200, description = "Text in Markdown.", body = String, content_type = "text/plain",
            headers(("ETag" = String), ("Cache-Control" = String), ("X-Request-Id" = String))),
        MethodError,
    )
)]
pub(super) async fn get_llms_txt(State(ucp): State<Ucp>, headers: HeaderMap) -> Response {
    constant(&headers, "text/plain; charset=utf-8", crate::llms::text(&ucp.0.config))
}
