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

/// A request to put brands into the queue.
#[derive(Debug, Clone, Copy)]
pub struct EnqueueRequest<'a> {
    /// These brands; `None`: all that are registered.
    pub only: Option<&'a [BrandSlug]>,
    /// Stores are read anew, whatever is known of them.
    pub force: bool,
    /// A higher one is taken first.
    pub priority: i64,
    /// The one who asks, for people to read.
    pub by: &'a str,
}

/// Puts brands into the queue as one run.
///
/// # Errors
/// [`EnqueueError`].
#[boxed]
pub async fn enqueue_run<'a>(
    market: &'a Market,
    state: &'a State,
    request: EnqueueRequest<'a>,
) -> Result<EnqueuedRun, EnqueueError> {
    let registry = Registry::load(&market.storage).await?;
    let of = |brand: &RegisteredBrand| WorkStore {
        store: brand.store.clone(),
        slug: brand.slug.clone(),
    };
    let stores: Vec<WorkStore> = match request.only {
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
    enqueue(state, &stores, request, now).await
}

async fn enqueue(
    state: &State,
    stores: &[WorkStore],
    request: EnqueueRequest<'_>,
    now: Timestamp,
) -> Result<EnqueuedRun, EnqueueError> {
    let run = NewWorkRun {
        run: new_run_id(now).map_err(RefreshError::RunId)?,
        force: request.force,
        priority: request.priority,
        by: request.by.to_owned(),
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
        let request = EnqueueRequest {
            only,
            force,
            priority: 0,
            by: &self.name,
        };
        enqueue_run(&self.market, &self.state, request).await
    }
}
