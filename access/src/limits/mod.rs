//! How much callers asked, in this process or in Valkey, by one algorithm.
//!
//! What may come at once and in the long run is counted by GCRA, the generic cell rate algorithm: each request costs the
//! time in which one is given, and may be paid in advance up to the burst. Requests of the day are counted besides. A
//! request that is refused costs nothing, and one that the day refuses is told so however fast it came.

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
    /// What the next request of `caller` would be told. Nothing is taken into account. Of an anonymous caller without a
    /// network it is what all such share.
    fn look(&self, caller: &Caller) -> Prompt<Verdict>;
}

/// Whose requests are counted together: each key's own, and those of all sessions of an account.
pub(crate) fn counted_as(known: &KnownCaller) -> &str {
    match &known.via {
        Via::Key { id, .. } => id,
        Via::Session | Via::Guest { .. } => known.id.as_str(),
    }
}
