//! Limits of callers, counted in this process or in Valkey by the same algorithm.
//!
//! GCRA, the generic cell rate algorithm, checks the burst and the average rate. Each request costs the interval to the
//! next request at the average rate. Requests may come earlier, up to the burst. The requests of each day are counted
//! separately. A refused request costs nothing. If both limits are exceeded, the response reports the daily one.

mod bucket;
mod local;
mod moment;
#[cfg(feature = "valkey")]
mod shared;
mod table;

use api::{KnownCaller, Via};

pub use self::local::LocalLimits;
#[cfg(feature = "valkey")]
pub use self::shared::{InvalidServer, SharedLimits};

/// Returns the id under which a request is counted: each key on its own, and all sessions of an account together.
pub(crate) fn counted_as(known: &KnownCaller) -> &str {
    match &known.via {
        Via::Key { id, .. } => id,
        Via::Session | Via::Guest { .. } => known.id.as_str(),
    }
}
