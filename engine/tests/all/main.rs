//! The public doors of one engine: statements over a served release, beside what REST answers from it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on says so at once"
)]

mod functions;
mod market;
mod stats;
