//! The programs as a user runs them: the binary, real processes, real sockets on this machine.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test that cannot go on says so at once, says what it skips, and is told by the environment where it runs"
)]

mod access;
mod buying;
mod cart_kill;
mod demo;
mod discover;
mod embedders;
mod health;
mod judged;
mod keys;
mod kill;
mod live;
mod mcp;
mod mcp_peers;
mod memory;
mod metrics;
mod offline;
mod operator;
mod page;
mod peers;
mod pins;
mod power;
mod recorded;
mod release;
mod schemathesis;
mod support;
mod swap;
mod traces;
mod ucp;
