//! Callers and their limits: the implementation behind the guard of `api`.
//!
//! In: keys and sessions in the state, the limits of each plan, and requests from the guard. Out: callers
//! ([`Credentials`]), verdicts ([`LocalLimits`], and with the feature `valkey` `SharedLimits`), usage counts of keys
//! ([`UsageMeter`]), and operations that show callers their plan, quota and identity.
//!
//! A request with a key needs only lookups in memory. The crate never stores or logs a key, a session or an address,
//! and never writes to the state for a single request. If the state or Valkey is down, requests that do not need it
//! still work.

mod config;
mod identify;
mod limits;
mod operations;
mod plans;
mod routes;
pub mod schema;
mod usage;

pub use config::{AccessConfig, InvalidConfig, LimitsConfig, PlanLimits};
pub use identify::Credentials;
pub use limits::LocalLimits;
#[cfg(feature = "valkey")]
pub use limits::{InvalidServer, SharedLimits};
pub use operations::{Access, AccessParts};
pub use plans::Plans;
pub use routes::{open_router, openapi};
pub use usage::UsageMeter;
