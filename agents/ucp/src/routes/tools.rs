//! HTTP routes for the protocol over MCP.

use agents_mcp::{Mcp, McpBody, McpFaulted};
use api::Problem;
use axum::extract::{Request, State};
use axum::response::Response;

/// Offers UCP version 2026-04-08 over the Model Context Protocol.
///
/// Tools have the names and arguments that UCP defines. Messages have the same form as at `/v1/mcp`, which offers the
/// market's own tools.
#[utoipa::path(post, path = "/v1/ucp/mcp", tag = "Agents", request_body = McpBody, responses(McpFaulted))]
pub(super) async fn call_ucp_mcp(State(mcp): State<Mcp>, request: Request) -> Result<Response, Problem> {
    mcp.post(request).await
}

/// Offers UCP version 2026-08-25 over the Model Context Protocol.
///
/// The body is one JSON-RPC 2.0 message. `tools/list` lists the tools, which are the operations of UCP.
#[utoipa::path(post, path = "/v1/ucp/2026-08-25/mcp", tag = "Agents", request_body = McpBody, responses(McpFaulted))]
pub(super) async fn call_ucp_mcp_2026_08_25(State(mcp): State<Mcp>, request: Request) -> Result<Response, Problem> {
    mcp.post(request).await
}
