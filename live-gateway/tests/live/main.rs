//! The gateway through its routes, against emulated stores.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on says so at once, and what it skips"
)]

mod bad_input;
mod both_ways;
mod changes;
mod faults;
mod sharing;
mod support;
