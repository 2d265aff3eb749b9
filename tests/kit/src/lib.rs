//! The common parts of tests of several crates: small brands and products, a clock that is set, and releases.
//!
//! In: names and numbers that matter to the test. Out: whole values, in which everything else is as plain as it can be.
//! Tests change what they are about with struct update syntax. It is no part of what users run, and holds no expectation.
//!
//! Releases come with the feature `release`, so that the tests of a crate that knows no release compile no index; a
//! PostgreSQL server with the feature `postgres`, and an endpoint that plays a language model with `model`.

#![expect(
    clippy::unwrap_used,
    reason = "a test that is built on something impossible says so at once"
)]

#[cfg(feature = "otlp")]
pub use {opentelemetry_proto, prost};

mod catalogue;
mod clock;
mod description;
#[cfg(feature = "model")]
mod model;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "release")]
mod release;
mod smtp;

pub use catalogue::{brand, product, refresh, variant};
pub use clock::{NOON, SetClock, ShiftedClock};
pub use description::description_faults;
#[cfg(feature = "model")]
pub use model::{Endpoint, EndpointScript, http_answer};
#[cfg(feature = "postgres")]
pub use postgres::database as postgres_database;
/// The address of no database: the tests were built without the feature `postgres`, and a line says so.
#[cfg(not(feature = "postgres"))]
#[expect(
    clippy::print_stdout,
    clippy::unused_async,
    reason = "what is skipped is said; as with the feature"
)]
pub async fn postgres_database() -> Option<String> {
    println!("skipped on PostgreSQL: build with `--features postgres`");
    None
}
#[cfg(feature = "release")]
pub use release::{StoreProducts, build, build_after, build_with_history, facts, open};
pub use smtp::SmtpTalk;
