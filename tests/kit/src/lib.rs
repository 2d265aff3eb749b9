//! Shared test helpers for several crates: small brands and products, a clock that tests set, and releases.
//!
//! Input: the names and numbers that matter to a test. Output: complete values in which everything else is as simple as
//! possible. Tests change the relevant fields with struct update syntax. The kit is not part of the shipped program and
//! contains no expectations.
//!
//! Releases need the feature `release`, so that crates whose tests need none do not compile the index. A PostgreSQL
//! server needs the feature `postgres`, a scripted language model endpoint needs `model`, and storages that fail need
//! `storage`.

#![expect(
    clippy::unwrap_used,
    reason = "a test that is built on something impossible says so at once"
)]

#[cfg(feature = "otlp")]
pub use {opentelemetry_proto, prost};

mod catalogue;
mod clock;
#[cfg(feature = "storage")]
mod conformance;
mod description;
#[cfg(feature = "storage")]
pub mod faulty;
#[cfg(feature = "model")]
mod model;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "release")]
mod release;
mod smtp;

pub use catalogue::{brand, product, refresh, variant};
pub use clock::{NOON, SetClock, ShiftedClock};
#[cfg(feature = "storage")]
pub use conformance::{ConformanceError, conformance, publish_race};
pub use description::description_faults;
#[cfg(feature = "model")]
pub use model::{Endpoint, EndpointScript, http_answer};
#[cfg(feature = "postgres")]
pub use postgres::database as postgres_database;
/// Prints a line and returns `None`, because the tests were built without the feature `postgres`.
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
