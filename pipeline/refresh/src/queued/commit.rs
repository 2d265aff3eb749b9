//! The committer of a run whose stores workers stage.

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
use crate::summary::{Outcome, RunReport, RunState, StoreSummary, Totals};
use crate::{RefreshConfig, RefreshError};

/// A store whose worker is done with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagedStore {
    /// The store.
    pub store: StoreHost,
    /// Its brand.
    pub slug: BrandSlug,
    /// The right under which it was staged.
    pub fence: i64,
    /// The lake has what a later worker found: then this one's comes too late.
    pub is_outdated: bool,
    /// The reason why nobody tries it again; `None` where it is tried again.
    pub letter: Option<String>,
}

/// The place where a committer learns what is staged. It is asked by one committer at a time.
#[async_trait]
pub trait StagedStores: Send + Sync + std::fmt::Debug {
    /// The next stores whose workers are done, as many as are worth a commit; waits for them. Each is answered once, but for
    /// those of [`StagedStores::again`]. `None`: nothing is left of the run. Where this is dropped, nothing was answered.
    async fn next(&self) -> Option<Vec<StagedStore>>;

    /// The stores that are there now, however few: the committer is about to stop.
    async fn rest(&self) -> Vec<StagedStore>;

    /// The lake and the ledger have what is to be had of these.
    async fn folded(&self, brands: Vec<BrandSlug>);

    /// This one was not taken in: because its stage `is_lost` and a worker has to make another, or because it cannot be read
    /// now.
    async fn again(&self, staged: StagedStore, is_lost: bool);
}

/// Stages whose products are made at the same time, at most.
const AT_ONCE_MAX: usize = 4;
/// Events on their way to the collector: products in memory.
const EVENTS_MAX: usize = 4;

/// Brings what workers stage of a run to the lake, until nothing is left of it or `deps.stores.cancel` ends it early: then what is
/// staged is taken in, the report says that the run is interrupted, and the next committer goes on. Stages that were taken
/// in before are taken in again without harm.
///
/// The stages that `source` answers at once are committed together, however long they take to be made: in parts only where they
/// are more than `refresh.tick_brands_max`, than the memory has room for, or where a part of them has waited for `wait_max`.
///
/// # Errors
/// See [`RefreshError`].
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
    // Boxed: commits are large futures, of types that go deep.
    let committing = async { tokio::try_join!(feeding, telling, collector.collect(collected)) };
    let ended = committing.boxed().await;
    let ended = ended.map(|((), (), report)| report);
    // The process that commits by now reports the end of the run.
    if ended.as_ref().err().and_then(RefreshError::fenced).is_none() {
        let (storage, now) = (&deps.stores.storage, deps.stores.clock.now());
        record_end(storage, &registry, &run.run, now, ended.as_ref()).await;
    }
    let report = ended?;
    if report.state == RunState::Finished {
        tidy(&shared, &registry, &report, &options).await;
    }
    Ok(report)
}

/// The report of the committer before, or an empty one.
async fn opened(run: &QueuedRun, deps: &RefreshDeps) -> Result<RunReport, RefreshError> {
    if let Some(report) = read_run(&deps.stores.storage, &run.run).await? {
        return Ok(RunReport {
            state: RunState::Running,
            resumed: report.resumed.saturating_add(1),
            ..report
        });
    }
    Ok(RunReport {
        run: run.run.clone(),
        state: RunState::Running,
        only: None,
        force: run.force,
        dry_run: false,
        queued: true,
        resumed: 0,
        started_at: run.started_at,
        ended_at: deps.stores.clock.now(),
        commits: 0,
        totals: Totals::default(),
        memory: None,
        stores: Vec::new(),
    })
}

/// Makes of what is staged what the collector takes, until nothing is left.
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
                // The run was given up.
                return;
            }
        }
    }
}

/// With the brands that were added or removed since the run began.
async fn caught_up(shared: &RunContext, registry: &Registry) -> Registry {
    let mut registry = registry.clone();
    if let Err(error) = registry.catch_up(&shared.storage).await {
        tracing::warn!(
            error = with_causes(&error),
            "brands that were added or removed meanwhile are not known"
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
            tracing::warn!(brand.slug = %staged.slug, error = with_causes(&error), "a stage waits");
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
    // The content that the lake has by now was found later.
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
    // Boxed: a large future.
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
