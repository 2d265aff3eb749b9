//! Tests whole runs, from in-memory stores to a lake, through the public API.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on says so at once"
)]

mod categories;
mod checked;
mod codes;
mod collapse;
mod doubts;
mod emulated;
mod identity;
mod interrupted;
mod live;
mod lost;
mod memory;
mod names;
mod omitted;
mod pruned;
mod ratings;
mod recorded;
mod refresh;
mod searched;
mod slow;
mod support;
