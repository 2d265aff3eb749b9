//! A run whose stores are taken from a queue by any number of workers, in any number of processes.
//!
//! A worker keeps what it knows of the lake ([`WorkerContext`]), crawls a store and judges what it found as any run does, and leaves
//! the result where all see it ([`StagedResult`]). One committer ([`commit_queued`]) makes the products of what changed again from
//! the landed pages, brings them to the lake in batches, and keeps the run's ledger: neither a commit nor a snapshot a store.
//!
//! The right to take a store, and the place of the committer, are for the caller to know: a queue with leases.

mod commit;
mod stage;
mod worker_context;

use data_model::{RunId, Timestamp};

pub use commit::{StagedStore, StagedStores, commit_queued};
pub use stage::{StageError, StagedResult, clear_stages};
pub use worker_context::WorkerContext;

use crate::RunOptions;

/// A run whose stores are in a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedRun {
    /// The run.
    pub run: RunId,
    /// Reads everything anew, whatever earlier runs know.
    pub force: bool,
    /// The moment at which it was asked for.
    pub started_at: Timestamp,
}

impl QueuedRun {
    fn options(&self) -> RunOptions {
        RunOptions {
            force: self.force,
            ..RunOptions::default()
        }
    }
}
