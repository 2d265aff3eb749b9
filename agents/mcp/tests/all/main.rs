//! The endpoint as a client meets it: requests in, answers out, over a small market of its own.

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
