//! Tests of building, opening, planning, publishing and garbage-collecting releases through the crate's public API.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "fixtures too panic on what must not happen, and say what they skip"
)]

mod bench;
mod damage;
mod filters;
mod fixture;
mod incremental;
mod mend;
#[path = "../../../storage/tests/all/support/moto.rs"]
mod moto;
mod observed;
mod pins;
#[path = "../../../storage/tests/all/support/proxy.rs"]
mod proxy;
mod publish;
mod refused;
mod repair;
mod round_trip;
mod s3;
mod scores;
mod suggest;
mod terms;
mod unreadable;
mod vectors;
