//! Live responses of stores, stored at `observations/…` until the lake merges them.
//!
//! Input: [`data_model::Observation`]s of one product each, passed to a [`Recorder`]. Output: immutable files in object
//! storage, `observations/{date}/{microseconds}-{uuid}.jsonl.zst`. The lake's committer lists these files oldest first,
//! reads them, merges them into the price history, and removes them.
//!
//! Recording never waits and never fails its caller. Observations that cannot be stored are counted as lost. Reading
//! validates everything: the bytes, observations and variants of a file are limited, and an invalid file is rejected as
//! a whole. The crate never compares an observation with known prices, and depends neither on the lake nor on the
//! stores.

mod config;
mod error;
mod files;
mod format;
mod recorder;

pub use config::ObservationsConfig;
pub use error::{Fault, ObservationsError};
pub use files::{ObservationFile, list, read, remove};
pub use recorder::Recorder;
