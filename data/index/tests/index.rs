//! Building, opening, planning, publishing and collecting releases, through the crate's public door.

#![expect(clippy::unwrap_used, reason = "fixtures too panic on what must not happen")]

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
#[path = "index/observed.rs"]
mod observed;
#[path = "index/publish.rs"]
mod publish;
#[path = "index/repair.rs"]
mod repair;
#[path = "index/round_trip.rs"]
mod round_trip;
#[path = "index/scores.rs"]
mod scores;
#[path = "index/suggest.rs"]
mod suggest;
#[path = "index/terms.rs"]
mod terms;
#[path = "index/vectors.rs"]
mod vectors;
