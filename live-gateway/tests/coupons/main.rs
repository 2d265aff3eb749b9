//! Tests of discount codes through their route, against emulated stores with known discount rules.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on says so at once"
)]

mod asking;
mod databases;
mod faults;
mod found;
mod sharing;
mod shops;
mod support;
