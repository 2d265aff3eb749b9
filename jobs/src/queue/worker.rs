use std::collections::BTreeMap;
use std::sync::Arc;

use data_model::RunId;
use pipeline_crawl::NoProgress;
use pipeline_refresh::{OtherCrawls, QueuedRun, RefreshDeps, crawl_memory};
use pipeline_task::StoreDeps;
use state::{State, WorkRun};
use storefront::MemoryBudget;
use tokio_util::sync::CancellationToken;

use super::config::QueueConfig;
use super::keeper::Keeper;
use crate::end::JobFailure;
use crate::market::Market;
use crate::monotonic_clock::{Clocks, MonotonicClock};
use crate::ops::Readiness;

/// Dependencies of a worker.
#[derive(Debug, Clone)]
pub struct QueueDeps {
    /// State database with the queue.
    pub state: State,
    /// Market whose stores are queried.
    pub market: Arc<Market>,
    /// Monotonic clock.
    pub elapsed: Arc<dyn MonotonicClock>,
    /// Name of this process, for operators.
    pub name: String,
}

impl QueueDeps {
    pub(super) fn clocks(&self) -> Clocks {
        Clocks {
            clock: Arc::clone(&self.market.clock),
            elapsed: Arc::clone(&self.elapsed),
        }
    }
}

/// Worker that takes stores from the queue, crawls them and stages the results, and that commits the stores of all
/// workers unless another worker is the committer.
#[derive(Debug)]
pub struct QueueWorker {
    pub(super) deps: QueueDeps,
    pub(super) config: QueueConfig,
    pub(super) memory: MemoryBudget,
    pub(super) keeper: Arc<Keeper>,
    pub(super) readiness: Readiness,
}

impl QueueWorker {
    /// Creates a worker that has not started.
    #[must_use]
    pub fn new(deps: QueueDeps, config: QueueConfig) -> Self {
        Self {
            memory: crawl_memory(&deps.market.refresh),
            keeper: Keeper::new(deps.state.clone(), config.clone(), deps.clocks()),
            readiness: Readiness::new(),
            deps,
            config,
        }
    }

    /// Returns the worker's readiness to take stores.
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        self.readiness.clone()
    }

    pub(super) async fn refresh_deps(&self, cancel: CancellationToken) -> Result<RefreshDeps, JobFailure> {
        Ok(RefreshDeps {
            stores: StoreDeps {
                // A worker already has the lease on a store that it queries.
                rights: None,
                ..self.deps.market.store_deps(cancel).await?
            },
            progress: Arc::new(NoProgress),
            others: OtherCrawls::AtWork,
        })
    }
}

pub(super) fn queued(run: &WorkRun) -> QueuedRun {
    QueuedRun {
        run: run.run.clone(),
        force: run.force,
        started_at: run.created_at,
    }
}

pub(super) type Runs = BTreeMap<RunId, tokio::task::AbortHandle>;
