//! The market as tools for agents: the Model Context Protocol at `/v1/mcp`, for every revision that clients speak.
//!
//! In: JSON-RPC messages, alone or in batches, of callers that the edge let in. Out: the market's operations as tools,
//! with the results and the errors of REST, as JSON or as one event stream each; and a stream that only says that the
//! server is there. The protocol is pure (`protocol`), tools follow from the interface description (`tools`), and every
//! call goes through the operation that REST asks ([`api::CallOperation`]). It never decides what a product, a price or
//! a cart is, keeps no session, and sends no message of its own accord.

mod config;
mod heartbeat;
mod manifest;
mod protocol;
mod routes;
mod server;
mod static_answers;
mod streams;
mod tools;

pub use config::{InvalidConfig, McpConfig};
pub use routes::{McpBody, McpFaulted};
pub use server::{Mcp, McpParts};
pub use tools::{BookError, MarketOffer, MarketTools, Resource, ToolError, ToolOutcome, Toolset};
