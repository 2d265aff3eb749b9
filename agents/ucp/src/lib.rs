//! Universal Commerce Protocol (UCP, https://ucp.dev) on top of the REST operations.
//!
//! Input: an agent's requests in the protocol's format. Output: responses built from results of REST operations
//! ([`api::CallOperation`]). The crate repeats no rules of catalogue, carts or checkouts.
//!
//! A product's variants name their seller. A cart of the protocol belongs to one business, so it is stored as a cart
//! with items of one brand. Agents cannot pay: every checkout requires that a person continues at `continue_url`, the
//! brand's own checkout.
//!
//! The same operations are available as tools over MCP. [`Version`] lists the supported protocol versions. Tests
//! validate every response against their schemas.

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

/// Base path of the operations below the server's URL.
pub(crate) const BASE_PATH: &str = "/v1/ucp";

/// Profile of the market, as agents see it.
#[derive(Debug, Clone)]
pub struct UcpConfig {
    /// Public URL of the server, without a trailing slash.
    pub public_url: String,
    /// `true` if the server has carts and checkouts. Otherwise it offers only the catalogue.
    pub has_carts: bool,
}

/// The protocol's operations on top of the REST operations. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Ucp(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) config: UcpConfig,
    pub(crate) operations: Arc<dyn CallOperation>,
    pub(crate) guard: Arc<Guard>,
}

impl Ucp {
    /// Creates the protocol's operations on top of `operations`. `guard` has already counted one request for each
    /// admitted call and charges further costs.
    #[must_use]
    pub fn new(config: UcpConfig, operations: Arc<dyn CallOperation>, guard: Arc<Guard>) -> Self {
        Self(Arc::new(Inner {
            config,
            operations,
            guard,
        }))
    }

    /// Returns the routes for the profiles, for the operations over REST and MCP, and for `/llms.txt`. `parts`
    /// configures the MCP endpoints.
    #[must_use]
    pub fn open_router(&self, parts: &McpParts) -> OpenRouter {
        routes::open(self, parts)
    }

    /// Returns the OpenAPI description of all operations.
    #[must_use]
    pub fn openapi() -> utoipa::openapi::OpenApi {
        routes::document()
    }
}
