//! Market as tools for agents: the Model Context Protocol (MCP) at `/v1/mcp`, in every revision that clients use.
//!
//! Input: JSON-RPC messages, single or in batches, from callers that the edge admitted. Output: the market's operations
//! as tools, with the results and errors of the REST API, as JSON or as an event stream. A separate stream only shows
//! that the server is alive.
//!
//! The protocol code is pure (`protocol`), and tools are derived from the OpenAPI description (`tools`). Every call
//! uses the same operation as REST ([`api::CallOperation`]). The crate has no rules for products, prices or carts,
//! keeps no sessions, and never sends unsolicited messages.

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
