//! The query server through its routes: no sockets, releases built from products made here.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what helpers of tests cannot do ends the test"
)]

mod brands;
mod catalogue;
mod edges;
mod faults;
mod openapi;
mod product;
mod search;
mod suggest;
mod support;
mod swap;
mod totals;
