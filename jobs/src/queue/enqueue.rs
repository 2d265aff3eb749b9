use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, RunId, Timestamp};
use pipeline_crawl::{RegisteredBrand, Registry, RegistryError};
use pipeline_refresh::{RefreshError, new_run_id};
use state::{EnqueueOutcome, NewWorkRun, State, StateError, WORK_RUNS_MAX, WORK_STORES_MAX, WorkStore};

use super::worker::QueueDeps;
use crate::market::Market;

/// Reason why stores were not put into the queue.
#[derive(Debug, thiserror::Error)]
pub enum EnqueueError {
    /// The registry could not be read.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A named brand is not registered.
    #[error("no brand is registered as {0}")]
    UnknownBrand(BrandSlug),
    /// No run id could be created.
    #[error(transparent)]
    Run(#[from] RefreshError),
    /// The state database could not be read or written.
    #[error(transparent)]
    State(#[from] StateError),
    /// The queue is full.
    #[error(
        "the queue is full: it accepts {} stores a run, and {} unfinished runs; `haat queue list` shows them",
        WORK_STORES_MAX,
        WORK_RUNS_MAX
    )]
    Full,
}

/// Run whose stores are in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnqueuedRun {
    /// Id of the run.
    pub run: RunId,
    /// Number of stores in the run.
    pub stores: u64,
}

/// Request to put brands into the queue.
#[derive(Debug, Clone, Copy)]
pub struct EnqueueRequest<'a> {
    /// Brands to enqueue; `None` means all registered brands.
    pub only: Option<&'a [BrandSlug]>,
    /// Read stores completely, even if they seem unchanged.
    pub force: bool,
    /// Priority; higher values are taken first.
    pub priority: i64,
    /// Name of the requester, for operators.
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
    /// Puts brands into the queue of these workers, like [`enqueue_run`].
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
