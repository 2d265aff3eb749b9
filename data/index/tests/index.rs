//! Building, opening, planning, publishing and collecting releases, through the crate's public door.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "fixtures too panic on what must not happen, and say what they skip"
)]

#[path = "index/bench.rs"]
mod bench;
#[path = "index/damage.rs"]
mod damage;
#[path = "index/filters.rs"]
mod filters;
#[path = "index/fixture.rs"]
mod fixture;
#[path = "index/incremental.rs"]
mod incremental;
#[path = "index/mend.rs"]
mod mend;
#[path = "../../storage/tests/all/support/moto.rs"]
mod moto;
#[path = "index/observed.rs"]
mod observed;
#[path = "index/pins.rs"]
mod pins;
#[path = "../../storage/tests/all/support/proxy.rs"]
mod proxy;
#[path = "index/publish.rs"]
mod publish;
#[path = "index/refused.rs"]
mod refused;
#[path = "index/repair.rs"]
mod repair;
#[path = "index/round_trip.rs"]
mod round_trip;
#[path = "index/s3.rs"]
mod s3;
#[path = "index/scores.rs"]
mod scores;
#[path = "index/suggest.rs"]
mod suggest;
#[path = "index/terms.rs"]
mod terms;
#[path = "index/unreadable.rs"]
mod unreadable;
#[path = "index/vectors.rs"]
mod vectors;
