//! Checks the data in the lake: its amount, missing values and price changes, compared with an earlier state.
//!
//! Input: two states of the lake, the record of checks, thresholds. Output: a [`QualityReport`], saved next to those of
//! earlier runs ([`keep`]), and the brands of the newer state that must not be released ([`hold`]).
//!
//! The cost depends on what changed. Figures of a brand with a known content hash come from a saved report, and prices
//! are compared only for brands whose hash changed. Few partitions are read at the same time.
//!
//! This crate never changes the lake and never crawls. A lost file does not stop it: the brands in the file are listed
//! as not read.

mod error;
mod hold;
mod kept;
mod look;
mod unfound;

pub use error::QualityError;
pub use hold::{AcceptedBrands, Baseline, Doubts, Gate, ReleaseHold, hold};
pub use kept::{KeptRuns, keep, kept, latest};
pub use look::{BaselineState, Look, Scope, after_run, look};
pub use unfound::{searched, unfound};

pub use data_reports::{Finding, QualityConfig, QualityReport, render, summary};
