//! SQL is the oracle: whatever the query server's kernels answer, a statement over the same release answers too.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what helpers of tests cannot do ends the test"
)]

mod content;
mod lists;
mod market;
mod pushdown;
