use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, RunId, Timestamp};
use pipeline_crawl::{RegisteredBrand, Registry, RegistryError};
use pipeline_refresh::{RefreshError, new_run_id};
use state::{EnqueueOutcome, NewWorkRun, State, StateError, WORK_RUNS_MAX, WORK_STORES_MAX, WorkStore};

use super::worker::QueueDeps;
use crate::market::Market;

/// The reason why stores were not put into the queue.
#[derive(Debug, thiserror::Error)]
pub enum EnqueueError {
    /// The registry could not be read.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A brand that was named is not registered.
    #[error("no brand is registered as {0}")]
    UnknownBrand(BrandSlug),
    /// The run has no id.
    #[error(transparent)]
    Run(#[from] RefreshError),
    /// The state could not be asked.
    #[error(transparent)]
    State(#[from] StateError),
    /// There is no room.
    #[error(
        "the queue is full: it takes {} stores a run, and {} runs that are not over; `haat queue list` shows them",
        WORK_STORES_MAX,
        WORK_RUNS_MAX
    )]
    Full,
}

/// A run whose stores are in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnqueuedRun {
    /// The run.
    pub run: RunId,
    /// The number of stores in it.
    pub stores: u64,
}

/// Puts brands into the queue as one run: these, or all that are registered. A higher priority is taken first.
///
/// # Errors
/// [`EnqueueError`].
#[boxed]
pub async fn enqueue_run(
    market: &Market,
    state: &State,
    only: Option<&[BrandSlug]>,
    (force, priority, by): (bool, i64, &str),
) -> Result<EnqueuedRun, EnqueueError> {
    let registry = Registry::load(&market.storage).await?;
    let of = |brand: &RegisteredBrand| WorkStore {
        store: brand.store.clone(),
        slug: brand.slug.clone(),
    };
    let stores: Vec<WorkStore> = match only {
        None => registry.brands().into_iter().map(of).collect(),
        Some(only) => {
            let find = |slug: &BrandSlug| {
                let found = registry.brand(slug).map(of);
                found.ok_or_else(|| EnqueueError::UnknownBrand(slug.clone()))
            };
            only.iter().map(find).collect::<Result<_, _>>()?
        }
    };
    let now = market.clock.now();
    enqueue(state, &stores, (force, priority, by), now).await
}

async fn enqueue(
    state: &State,
    stores: &[WorkStore],
    (force, priority, by): (bool, i64, &str),
    now: Timestamp,
) -> Result<EnqueuedRun, EnqueueError> {
    let run = NewWorkRun {
        run: new_run_id(now).map_err(RefreshError::RunId)?,
        force,
        priority,
        by: by.to_owned(),
    };
    match state.enqueue_work(&run, stores, now).await? {
        EnqueueOutcome::Added(stores) => Ok(EnqueuedRun { run: run.run, stores }),
        EnqueueOutcome::Full | EnqueueOutcome::Over => Err(EnqueueError::Full),
    }
}

impl QueueDeps {
    /// Puts brands into the queue of these workers, see [`enqueue_run`].
    ///
    /// # Errors
    /// [`EnqueueError`].
    #[boxed]
    pub async fn enqueue(&self, only: Option<&[BrandSlug]>, force: bool) -> Result<EnqueuedRun, EnqueueError> {
        enqueue_run(&self.market, &self.state, only, (force, 0, &self.name)).await
    }
}
