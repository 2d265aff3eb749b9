//! Asks stores what delivery costs: carts are made at the store, addressed to one pincode after the other, and emptied.
//!
//! In: a lake with brands, the client of stores, and how much may be asked a day. Out: answers and the zones that follow
//! from them, committed to the lake brand by brand, and a report. What is asked is decided by `pipeline-delivery`. A
//! run that is cut short is gone on with by the next: what was answered is in the lake.
//!
//! It never checks out, never enters a name, a street or a code, and asks at the pace and by the rules of the storefront
//! client, behind whoever waits.

mod abroad;
mod ask;
mod brand;
mod config;
mod run;

pub use brand::{BrandProbed, ProbeOutcome};
pub use config::{ProbeConfig, ProbeOptions};
pub use pipeline_delivery::PROBES_MAX;
pub use run::{ProbeError, ProbeReport, probe};
