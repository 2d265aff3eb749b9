//! The protocol over MCP.

use agents_mcp::{Mcp, McpBody, McpFaulted};
use api::Problem;
use axum::extract::{Request, State};
use axum::response::Response;

/// The shared commerce protocol over the Model Context Protocol, version 2026-04-08.
///
/// The tools are named and called as the protocol says; messages are taken as at `/v1/mcp`, which has the market's own tools.
#[utoipa::path(post, path = "/v1/ucp/mcp", tag = "Agents", request_body = McpBody, responses(McpFaulted))]
pub(super) async fn call_ucp_mcp(State(mcp): State<Mcp>, request: Request) -> Result<Response, Problem> {
    mcp.post(request).await
}

/// The shared commerce protocol over the Model Context Protocol, version 2026-08-25.
///
/// The body is one JSON-RPC 2.0 message. `tools/list` tells the tools, which are the protocol's operations.
#[utoipa::path(post, path = "/v1/ucp/2026-08-25/mcp", tag = "Agents", request_body = McpBody, responses(McpFaulted))]
pub(super) async fn call_ucp_mcp_2026_08_25(State(mcp): State<Mcp>, request: Request) -> Result<Response, Problem> {
    mcp.post(request).await
}
