//! Queries stores for delivery costs: creates a cart at the store, sets its address to one pincode after another, and
//! empties it.
//!
//! Input: a lake with brands, the store client, and the daily limit of questions. Output: the answers and the zones
//! derived from them, committed to the lake brand by brand, and a report. `pipeline-delivery` decides which questions
//! are sent. If a run is interrupted, its answers are in the lake and the next run continues.
//!
//! This crate never checks out and never enters a name, a street or a discount code. It obeys the rate limits and rules
//! of the storefront client, and yields to requests of waiting users.

mod abroad;
mod ask;
mod brand;
mod config;
mod run;

pub use brand::{BrandProbed, ProbeOutcome};
pub use config::{ProbeConfig, ProbeOptions};
pub use pipeline_delivery::PROBES_MAX;
pub use run::{ProbeError, ProbeReport, probe};
