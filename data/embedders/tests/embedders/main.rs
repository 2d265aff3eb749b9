//! Embedders through their trait, against a server on this machine and a model in a folder.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on says so at once"
)]

mod endpoint;
mod transformer;
