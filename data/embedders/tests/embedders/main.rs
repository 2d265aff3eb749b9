//! Tests embedders through their trait, with a local server and a model in a folder.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test that cannot go on says so at once, says what it skips, and is told by the environment where it runs"
)]

mod endpoint;
#[cfg(feature = "transformer")]
mod transformer;
