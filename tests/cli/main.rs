//! Tests of the programs as a user runs them: the binary, real processes, and real sockets on this machine.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test that cannot go on says so at once, says what it skips, and is told by the environment where it runs"
)]

mod access;
mod agent;
mod backfill;
mod backup;
mod ballista;
mod buying;
mod cart_kill;
mod categories;
mod changes;
mod clock;
mod damage;
mod delivery;
mod delivery_truth;
mod demo;
mod deploy;
mod described;
mod discounts;
mod discover;
mod documents;
mod embedders;
mod exports;
mod features;
mod feed;
mod found;
mod health;
mod injection;
mod jobs;
mod judged;
mod keys;
mod keys_kill;
mod kill;
mod lake_files;
mod live;
mod matches;
mod mcp;
mod mcp_app;
mod mcp_hosts;
mod mcp_peers;
mod mcp_sizes;
mod memory;
mod metrics;
mod missing;
mod model;
mod offline;
mod openapi;
mod openapi_peers;
mod operator;
mod page;
mod peers;
mod pins;
mod power;
mod probes;
mod quality;
mod questions;
mod queue;
mod quotes;
mod rates;
mod recorded;
mod reference;
mod release;
mod reviews;
mod schemathesis;
mod searches;
mod shipping;
mod sql;
mod support;
mod swap;
mod topology;
#[cfg(feature = "otlp")]
mod traces;
mod ucp;
mod ucp_client;
mod variants;
mod watches;
