//! Callers and their limits: the implementation behind `api`'s guard.
//!
//! In: keys and sessions of the state, the limits of each plan, and requests as the guard passes them on. Out: callers
//! ([`Credentials`]), verdicts ([`LocalLimits`], and with the feature `valkey` `SharedLimits`), counts of what keys are
//! used for ([`UsageMeter`]), and the operations that answer callers about it: plans, quota, and who they are.
//!
//! A request with a key costs look-ups in memory. The crate never stores or logs a key, a session or an address, never
//! writes to the state for a single request, and never lets a lack of the state or of Valkey stop what needs neither.

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
#[cfg(feature = "valkey")]
pub use limits::{InvalidServer, SharedLimits};
pub use limits::{Limits, LocalLimits};
pub use operations::{Access, AccessParts};
pub use plans::Plans;
pub use routes::{open_router, openapi};
pub use usage::UsageMeter;
