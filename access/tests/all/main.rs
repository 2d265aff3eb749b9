//! Tests of callers, limits, usage and routes through the crate's public API.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on says so at once"
)]

mod config;
mod credentials;
mod flood;
mod limits;
mod me;
mod oracle;
#[cfg(feature = "valkey")]
mod redis_server;
mod routes;
#[cfg(feature = "valkey")]
mod shared;
mod site;
mod support;
#[cfg(feature = "valkey")]
mod tls;
mod usage;
