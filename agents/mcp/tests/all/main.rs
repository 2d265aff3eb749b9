//! Tests of the endpoint as clients use it, over a small test market.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on says so at once"
)]

mod batches;
mod callers;
mod closing;
mod hostile;
mod legacy;
mod modern;
mod streams;
mod support;
