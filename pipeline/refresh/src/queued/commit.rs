//! Committer of a run whose stores are staged by workers.

use std::sync::Arc;
use std::time::Duration;

use async_recursion::async_recursion as boxed;
use async_trait::async_trait;
use data_model::{BrandSlug, StoreHost};
use futures::{FutureExt, StreamExt};
use pipeline_crawl::Registry;
use storefront::MemoryBudget;
use tokio::sync::mpsc;

use super::{QueuedRun, StagedResult};
use crate::checked::record_end;
use crate::collect::Collector;
use crate::error::with_causes;
use crate::ledger::{Ledger, read_run};
use crate::run::{RefreshDeps, shared, tidy};
use crate::store::{Event, RunContext};
use crate::summary::{Outcome, RunReport, RunState, StoreSummary};
use crate::{RefreshConfig, RefreshError};

/// Store that a worker has finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagedStore {
    /// Finished store.
    pub store: StoreHost,
    /// Slug of the brand.
    pub slug: BrandSlug,
    /// Fence of the worker that staged the store.
    pub fence: i64,
    /// True if the lake has a later worker's result.
    pub is_outdated: bool,
    /// Reason for not retrying the store. `None` if it is retried.
    pub letter: Option<String>,
}

/// Source of staged stores for a committer. Only one committer uses it at a time.
#[async_trait]
pub trait StagedStores: Send + Sync + std::fmt::Debug {
    /// Waits until there are enough finished stores for a commit, and returns them. Each store is returned once, unless
    /// it is passed to [`StagedStores::again`]. `None` means that all stores of the run were returned. If this future
    /// is dropped, no store counts as returned.
    async fn next(&self) -> Option<Vec<StagedStore>>;

    /// Returns the available stores without waiting, because the committer is about to stop.
    async fn rest(&self) -> Vec<StagedStore>;

    /// Called after the lake and the ledger have the results of these brands.
    async fn folded(&self, brands: Vec<BrandSlug>);

    /// Called for a store that was not committed. If its stage `is_lost`, a worker must create it again. Otherwise it
    /// cannot be read now.
    async fn again(&self, staged: StagedStore, is_lost: bool);
}

/// Maximum number of stages whose products are built at once.
const AT_ONCE_MAX: usize = 4;
/// Capacity of the channel to the collector. It is small because each event holds products in memory.
const EVENTS_MAX: usize = 4;

/// Commits the stores that workers stage for a run to the lake, until all are committed or `deps.stores.cancel` ends
/// the run early. On an early end, the staged stores are committed, the report states that the run is interrupted, and
/// the next committer continues. Committing a stage twice does no harm.
///
/// Stages that `source` returns together are committed together, even if building them takes long. Such a batch is
/// split only if its stages exceed `refresh.tick_brands_max` or the memory, or if some of them have waited for
/// `wait_max`.
#[boxed]
pub async fn commit_queued(
    run: &QueuedRun,
    config: &RefreshConfig,
    deps: &RefreshDeps,
    memory: &MemoryBudget,
    source: &dyn StagedStores,
    wait_max: Duration,
) -> Result<RunReport, RefreshError> {
    let registry = Registry::load(&deps.stores.storage).await?;
    let (told, written) = mpsc::unbounded_channel();
    let report = opened(run, deps).await?;
    let ledger = Ledger::open_queued(deps.stores.storage.clone(), report, told);
    let options = run.options();
    let shared = shared(&run.run, &options, config, deps, &registry, memory.clone()).await?;
    let shared = Arc::new(shared);
    let collector = Collector::new(
        Arc::clone(&shared),
        deps.stores.lake.clone(),
        ledger,
        registry.clone(),
        run.started_at,
    )
    .with_tick(wait_max.max(Duration::from_millis(config.tick_ms)));
    let (events, collected) = mpsc::channel(EVENTS_MAX);
    let feeding = async {
        feed(&shared, &registry, source, events).await;
        Ok(())
    };
    let telling = async {
        let mut written = written;
        while let Some(brands) = written.recv().await {
            source.folded(brands).await;
        }
        Ok(())
    };
    // Commits are large futures with deeply nested types, so that they are boxed.
    let committing = async { tokio::try_join!(feeding, telling, collector.collect(collected)) };
    let ended = committing.boxed().await;
    let ended = ended.map(|((), (), report)| report);
    // If this committer was fenced off, the process that replaced it reports the end of the run.
    if ended.as_ref().err().and_then(RefreshError::fenced).is_none() {
        let (storage, now) = (&deps.stores.storage, deps.stores.clock.now());
        record_end(storage, &registry, &run.run, now, ended.as_ref()).await;
    }
    let report = ended?;
    if report.state == RunState::Finished {
        tidy(&shared, &deps.stores.lake, &registry, &report, &options).await;
    }
    Ok(report)
}

/// Returns the report of the previous committer, or an empty one.
async fn opened(run: &QueuedRun, deps: &RefreshDeps) -> Result<RunReport, RefreshError> {
    if let Some(report) = read_run(&deps.stores.storage, &run.run).await? {
        return Ok(report.resumed());
    }
    Ok(RunReport {
        force: run.force,
        queued: true,
        ..RunReport::new(run.run.clone(), run.started_at, deps.stores.clock.now())
    })
}

/// Builds catalogues from the stages and sends them to the collector until none are left.
async fn feed(shared: &RunContext, registry: &Registry, source: &dyn StagedStores, events: mpsc::Sender<Event>) {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut is_told_to_stop = false;
    while !is_told_to_stop {
        let batch = match shared.cancel.run_until_cancelled(source.next()).await {
            Some(Some(batch)) => batch,
            Some(None) => return,
            None => {
                is_told_to_stop = true;
                source.rest().await
            }
        };
        let registry = caught_up(shared, registry).await;
        let making = futures::stream::iter(batch)
            .map(|staged| event_of(shared, &registry, source, staged))
            .buffer_unordered(cores.min(AT_ONCE_MAX))
            .filter_map(std::future::ready)
            .chain(futures::stream::iter([Event::Batched]));
        let mut making = std::pin::pin!(making);
        while let Some(event) = making.next().await {
            if events.send(event).await.is_err() {
                return;
            }
        }
    }
}

/// Reloads the registry, because brands may have been added or removed since the run began.
async fn caught_up(shared: &RunContext, registry: &Registry) -> Registry {
    let mut registry = registry.clone();
    if let Err(error) = registry.catch_up(&shared.storage).await {
        tracing::warn!(
            error = with_causes(&error),
            "it is unknown which brands were added or removed meanwhile"
        );
    }
    registry
}

async fn event_of(
    shared: &RunContext,
    registry: &Registry,
    source: &dyn StagedStores,
    staged: StagedStore,
) -> Option<Event> {
    let stage = match StagedResult::load(&shared.storage, &shared.run, &staged.store, staged.fence).await {
        Ok(stage) => stage,
        Err(error) => {
            tracing::warn!(brand.slug = %staged.slug, error = with_causes(&error), "a staged result could not be read and is retried later");
            source.again(staged, false).await;
            return None;
        }
    };
    let blank = || StoreSummary {
        ended_at: shared.clock.now(),
        ..shared.blank_of(&staged.slug, &staged.store)
    };
    let Some(stage) = stage else {
        let Some(reason) = staged.letter.clone() else {
            source.again(staged, true).await;
            return None;
        };
        let outcome = Outcome::Failed {
            code: "worker".to_owned(),
            reason,
        };
        return Some(through(StoreSummary { outcome, ..blank() }));
    };
    if staged.is_outdated {
        return Some(through(blank()));
    }
    let Some(state) = stage.changed else {
        return Some(through(stage.summary));
    };
    let brand = registry.brand(&staged.slug).filter(|brand| brand.store == staged.store);
    let Some(brand) = brand else {
        return Some(through(blank()));
    };
    // The future is large, so that it is boxed.
    match Box::pin(shared.ready_again(brand, state, stage.summary.clone())).await {
        Ok(ready) => Some(Event::Ready(Box::new(ready))),
        Err((code, reason)) => {
            let outcome = Outcome::Failed {
                code: code.to_owned(),
                reason,
            };
            Some(through(StoreSummary { outcome, ..blank() }))
        }
    }
}

fn through(summary: StoreSummary) -> Event {
    Event::Through(Box::new(summary))
}
