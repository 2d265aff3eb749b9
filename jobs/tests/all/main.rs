//! Tests of jobs through the crate's public API: schedules against a reference implementation, decisions, and whole
//! months of schedulers.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test that cannot go on says so at once"
)]

mod cadence;
mod commits;
mod fences;
mod month;
mod oracle;
mod owed;
mod processes;
mod queue;
mod rights;
mod schedule;
mod support;
mod upkeep;
