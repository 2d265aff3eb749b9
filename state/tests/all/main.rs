//! Tests of the state's public API, on SQLite and PostgreSQL alike.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test that cannot go on says so at once, and is told by the environment where it runs"
)]

mod audit;
mod carts;
mod coupons;
mod door;
mod dump;
mod index;
mod jobs;
mod keys;
mod kill;
mod schema;
mod sessions;
mod support;
mod usage;
mod work;
