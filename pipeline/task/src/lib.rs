//! One task over the stores of a market: stores that are due are asked side by side, and their answers brought in batch by batch.
//!
//! In: a home with its lake, the client of stores, the right to ask them, and a [`StoreTask`]. Out: the answers, given to the task
//! in batches, and a [`TaskRun`]. A task that reads landed answers again is one whose stores are all due.
//!
//! It never asks a store, never decides what an answer means, and never takes the failure of one store for that of the task. The
//! catalogue has a run of its own (`pipeline-refresh`): its stores do not wait for a batch.

mod deps;
mod error;
mod reread;
mod run;

pub use deps::StoreDeps;
pub use error::TaskError;
pub use reread::{RereadCounts, RereadOptions, RereadOutcome};
pub use run::{DueBrand, StoreTask, TaskRun, is_older, run};
