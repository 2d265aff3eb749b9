//! Limits on callers, in this process or in Valkey, by one algorithm.
//!
//! The burst and the long-run rate are counted by GCRA, the generic cell rate algorithm: each request costs the time in
//! which one is given, and may be paid in advance up to the burst. Requests of the day are counted besides. A request
//! that is refused costs nothing, and one that the day refuses gets that answer however fast it came.

mod bucket;
mod local;
mod moment;
#[cfg(feature = "valkey")]
mod shared;
mod table;

use api::{Caller, KnownCaller, Limit, Prompt, Verdict, Via};

pub use self::local::LocalLimits;
#[cfg(feature = "valkey")]
pub use self::shared::{InvalidServer, SharedLimits};

/// Limits that can be looked at, too.
pub trait Limits: Limit {
    /// The verdict on the next request of `caller`. Nothing is counted. An anonymous caller without a network gets the
    /// verdict on all callers of that kind together.
    fn look(&self, caller: &Caller) -> Prompt<Verdict>;
}

/// The caller under whom a request counts: each key by itself, and all sessions of an account together.
pub(crate) fn counted_as(known: &KnownCaller) -> &str {
    match &known.via {
        Via::Key { id, .. } => id,
        Via::Session | Via::Guest { .. } => known.id.as_str(),
    }
}
