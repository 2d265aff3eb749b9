//! Run whose stores are taken from a queue by any number of workers, in any number of processes.
//!
//! A worker keeps a snapshot of the lake ([`WorkerContext`]), crawls a store, checks the result as in any run, and
//! saves it for all processes ([`StagedResult`]). One committer ([`commit_queued`]) rebuilds changed catalogues from
//! the landed pages, commits them in batches, and keeps the run's ledger. Workers therefore need no commit or snapshot
//! per store.
//!
//! The caller decides which worker may take a store and who is the committer, for example with a queue with leases.

mod commit;
mod stage;
mod worker_context;

use data_model::{RunId, Timestamp};

pub use commit::{StagedStore, StagedStores, commit_queued};
pub use stage::{StageError, StagedResult, clear_stages};
pub use worker_context::WorkerContext;

use crate::RunOptions;

/// Run whose stores are in a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedRun {
    /// Id of the run.
    pub run: RunId,
    /// Reads everything, even unchanged catalogues.
    pub force: bool,
    /// Time at which the run was requested.
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
