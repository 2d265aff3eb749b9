//! Tests of the gateway through its routes, against emulated stores.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test that cannot go on says so at once, and what it skips; it is told by the environment where it runs"
)]

mod bad_input;
mod both_ways;
mod carts;
mod changes;
mod description;
mod faults;
mod kept;
mod sharing;
mod support;
