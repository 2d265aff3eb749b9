//! Wiring of the endpoints for agents, which call the same operations as the REST API.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use agents_mcp::{MarketOffer, MarketTools, Mcp, McpParts};
use agents_ucp::{Ucp, UcpConfig};
use anyhow::Context as _;
use api::{CallOperation, Guard, OpenRouter, RemoteOperations};
use query_server::QueryServer;
use tokio_util::sync::CancellationToken;
use utoipa::openapi::OpenApi;

use crate::access::public_url;
use crate::config::cors_origins;
use crate::wiring::Context;

/// Dependencies of the endpoint for agents.
pub(crate) struct At<'a> {
    pub(crate) context: &'a Context,
    /// Access check of the server.
    pub(crate) guard: Arc<Guard>,
    pub(crate) local: SocketAddr,
    /// Token that is cancelled when the server stops.
    pub(crate) stop: CancellationToken,
}

/// Operations of another server, with their description.
pub(crate) struct RemoteServer {
    operations: Arc<dyn CallOperation>,
    document: OpenApi,
}

/// Returns the operations on stored data of the query server at which the gateway looks up products.
pub(crate) fn elsewhere(context: &Context) -> anyhow::Result<RemoteServer> {
    let given = &context.config.live_gateway;
    let timeout = Duration::from_millis(context.config.mcp.timeout_ms);
    let operations = RemoteOperations::new(&given.catalogue, timeout).context("live_gateway.catalogue")?;
    Ok(RemoteServer {
        operations: Arc::new(operations),
        document: QueryServer::openapi(),
    })
}

/// Adds the endpoints for agents to the routes of the operations. Operations without a route here are forwarded to
/// `elsewhere`.
pub(crate) fn with_agents(
    open: OpenRouter,
    at: &At<'_>,
    elsewhere: Option<RemoteServer>,
) -> anyhow::Result<OpenRouter> {
    let config = &at.context.config;
    let mut document = open.document().cloned().unwrap_or_default();
    let local = open.operations(Arc::clone(&at.guard));
    let operations: Arc<dyn CallOperation> = match elsewhere {
        Some(elsewhere) => {
            document.merge(elsewhere.document);
            Arc::new(local.or(elsewhere.operations))
        }
        None => Arc::new(local),
    };
    let of_ucp = UcpConfig {
        public_url: public_url(at.context, at.local),
        has_carts: true,
    };
    let ucp = Ucp::new(of_ucp, Arc::clone(&operations), Arc::clone(&at.guard));
    let document = serde_json::to_value(document).context("interface description")?;
    let public_url = public_url(at.context, at.local);
    let offer = MarketOffer {
        with_carts: config.mcp.cart_tools,
        answer_bytes_max: config.mcp.answer_bytes_max,
        public_url: public_url.clone(),
    };
    let tools = MarketTools::of(operations, &document, offer)?;
    let parts = McpParts {
        guard: Arc::clone(&at.guard),
        config: config.mcp.clone(),
        public_url,
        origins: cors_origins(&config.api.cors_origins)?,
        is_local: at.local.ip().to_canonical().is_loopback(),
        version: env!("CARGO_PKG_VERSION"),
        stop: at.stop.clone(),
    };
    let of_ucp = ucp.open_router(&parts);
    let mcp = Mcp::new(parts, Arc::new(tools));
    Ok(open.merge(mcp.open_router()).merge(of_ucp))
}
