//! Tests of the crate's public interface: the engine itself and `POST /v1/sql`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

mod dialect;
mod door;
#[cfg(feature = "flight")]
mod flight;
mod market;
mod stuck;
mod wild;
