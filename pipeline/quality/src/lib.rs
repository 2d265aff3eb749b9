//! Looks at the data in the lake: how much there is of it, what it lacks, how prices moved, beside how it was.
//!
//! In: two states of the lake, the record of checks, thresholds. Out: a [`QualityReport`], kept with the runs before it
//! ([`keep`]), and an answer to which brands of that state are not to be released, or whether none is ([`hold`]).
//!
//! Cost follows what changed: of a brand whose content hash is known from a kept report the figures are taken from there, and
//! prices are compared only for brands whose hash is another one. Partitions are read one after the other.
//!
//! It never changes the lake, never crawls, and never lets a lost file stop anything: its brands are listed as not
//! read.

mod error;
mod hold;
mod kept;
mod look;
mod unfound;

pub use error::QualityError;
pub use hold::{AcceptedBrands, Baseline, Doubts, Gate, ReleaseHold, hold};
pub use kept::{KeptRuns, keep, kept, latest};
pub use look::{BaselineState, Look, Scope, after_run, look};
pub use unfound::unfound;

pub use data_reports::{Finding, QualityConfig, QualityReport, render, summary};
