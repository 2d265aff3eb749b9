//! What tests of several crates are made of: small brands and products, a clock that is set, and releases.
//!
//! In: names and numbers that matter to the test. Out: whole values, in which everything else is as plain as it can be.
//! Tests change what they are about with struct update syntax. It is no part of any program, and holds no expectation.

#![expect(
    clippy::unwrap_used,
    reason = "a test that is built on something impossible says so at once"
)]

mod catalogue;
mod clock;
mod release;

pub use catalogue::{brand, product, refresh, variant};
pub use clock::{NOON, SetClock};
pub use release::{build, facts};
