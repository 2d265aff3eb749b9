//! Runs one task over the stores of a market: queries the stores that are due concurrently and commits their answers in
//! batches.
//!
//! Input: a home with its lake, the store client, the rights to query stores, and a [`StoreTask`]. Output: the answers,
//! passed to the task in batches, and a [`TaskRun`]. For a task that only rereads landed answers, all stores are due.
//!
//! This crate never contacts a store itself and never interprets an answer. The failure of one store does not fail the
//! task. `pipeline-refresh` crawls the catalogue, because its stores do not wait for a batch.

mod deps;
mod error;
mod reread;
mod run;

pub use deps::StoreDeps;
pub use error::TaskError;
pub use reread::{RereadCounts, RereadOptions, RereadOutcome};
pub use run::{DueBrand, StoreTask, TaskRun, is_older, run};
