//! Live answers of stores, on their way from the gateway to the lake: `observations/…`.
//!
//! In: [`data_model::Observation`]s, one product each, handed to a [`Recorder`]. Out: immutable files of them in object
//! storage, `observations/{date}/{microseconds}-{uuid}.jsonl.zst`, which the lake's committer lists oldest first, reads,
//! folds into the price history, and removes.
//!
//! Recording never waits and never fails its caller: what cannot be kept is counted as lost. Reading takes nothing on
//! trust: a file is bounded in bytes, observations and variants, and one that is not what a recorder wrote is refused as
//! a whole. It never compares an observation with what is known, and knows neither the lake nor the stores.

mod config;
mod error;
mod files;
mod format;
mod recorder;

pub use config::ObservationsConfig;
pub use error::{Fault, ObservationsError};
pub use files::{ObservationFile, list, read, remove};
pub use recorder::Recorder;
