//! Discount codes through their route, against emulated stores whose rules are known.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test that cannot go on says so at once, says what it measured or skips, and is told by the environment where it runs"
)]

mod asking;
mod databases;
mod faults;
mod found;
mod sharing;
mod shops;
mod support;
