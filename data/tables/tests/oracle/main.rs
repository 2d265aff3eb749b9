//! Tests the query server against SQL as the oracle: a statement over the same release must give the same results as
//! the server's kernels.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what helpers of tests cannot do ends the test"
)]

mod content;
mod lists;
mod market;
mod pushdown;
