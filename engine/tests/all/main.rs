//! Tests of the crate's public interface: SQL statements over a release, compared with the REST answers.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on says so at once"
)]

mod functions;
mod market;
mod stats;
