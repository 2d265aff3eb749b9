//! The shared commerce protocol (UCP, https://ucp.dev) over the same operations as REST.
//!
//! In: an agent's requests in the protocol's words. Out: its answers, each made of what REST operations answer
//! ([`api::CallOperation`]); no rule of catalogue, carts or checkouts is repeated here. A product's variants name their
//! seller. A cart of the protocol is one business's, so it is a cart here with items of one brand. A checkout is an
//! escalation: a person goes on at `continue_url`, the brand's own checkout; nothing is paid by an agent.
//!
//! The same operations are tools over MCP. Which versions of the protocol are spoken says [`Version`]; the tests hold every
//! answer against their schemas.

mod answer;
mod carts;
mod catalogue;
mod failure;
mod ids;
mod llms;
mod market;
mod members;
mod message;
mod operations;
mod profile;
mod read;
mod routes;
mod tools;
mod version;
mod wire;

use std::sync::Arc;

use agents_mcp::McpParts;
use api::{CallOperation, Guard, OpenRouter};

pub use self::version::Version;

/// The path of the operations below the server's address.
pub(crate) const BASE_PATH: &str = "/v1/ucp";

/// The market's profile, as agents see it.
#[derive(Debug, Clone)]
pub struct UcpConfig {
    /// The server's own public address, without a slash at the end.
    pub public_url: String,
    /// True where the server keeps carts and hands over to checkouts; else the catalogue alone is offered.
    pub has_carts: bool,
}

/// The protocol's operations over those of REST. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Ucp(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) config: UcpConfig,
    pub(crate) operations: Arc<dyn CallOperation>,
    pub(crate) guard: Arc<Guard>,
}

impl Ucp {
    /// Speaks the protocol for what `operations` can do. `guard` has counted one request for each that it let in, and is told
    /// what it cost.
    #[must_use]
    pub fn new(config: UcpConfig, operations: Arc<dyn CallOperation>, guard: Arc<Guard>) -> Self {
        Self(Arc::new(Inner {
            config,
            operations,
            guard,
        }))
    }

    /// The profiles, the operations over REST and over MCP, and `/llms.txt`; endpoints over MCP are made of `parts`.
    #[must_use]
    pub fn open_router(&self, parts: &McpParts) -> OpenRouter {
        routes::open(self, parts)
    }

    /// The interface description of all operations.
    #[must_use]
    pub fn openapi() -> utoipa::openapi::OpenApi {
        routes::document()
    }
}
