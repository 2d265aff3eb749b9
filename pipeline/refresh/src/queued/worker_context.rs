use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, StoreHost};
use futures::FutureExt;
use pipeline_crawl::{RegisteredBrand, Registry};
use storefront::MemoryBudget;
use tokio::sync::mpsc;

use super::{QueuedRun, StagedResult};
use crate::run::{RefreshDeps, shared};
use crate::store::{Event, RunContext};
use crate::summary::StoreSummary;
use crate::{RefreshConfig, RefreshError};

/// Snapshot of the lake and the registry, with which a worker refreshes stores of one run. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct WorkerContext {
    shared: Arc<RunContext>,
    registry: Arc<Registry>,
}

impl WorkerContext {
    /// Loads the current state of the lake and the registry.
    #[boxed]
    pub async fn open(
        run: &QueuedRun,
        config: &RefreshConfig,
        deps: &RefreshDeps,
        memory: &MemoryBudget,
    ) -> Result<Self, RefreshError> {
        let registry = Registry::load(&deps.stores.storage).await?;
        let shared = shared(&run.run, &run.options(), config, deps, &registry, memory.clone()).await?;
        Ok(Self {
            shared: Arc::new(shared),
            registry: Arc::new(registry),
        })
    }

    /// Crawls a store and checks the result, but does not write to the lake. Dropping the future ends the crawl
    /// immediately. The next worker that takes the store in the same run continues from the landed pages.
    ///
    /// # Errors
    /// [`RefreshError::Registry`]. A failure of the store is in the stage and is not an error.
    #[boxed]
    pub async fn refresh(&self, slug: &BrandSlug, store: &StoreHost, fence: i64) -> Result<StagedResult, RefreshError> {
        let Some(brand) = self.registered(slug, store).await? else {
            // The operator has removed the brand meanwhile.
            return Ok(self.stage(self.shared.blank_of(slug, store), fence));
        };
        let (events, mut told) = mpsc::channel(1);
        // A crawl is a large future with deeply nested types, so that it is boxed. It sends one event, which fits in
        // the channel.
        Arc::clone(&self.shared).refresh_store(brand, events).boxed().await;
        Ok(match told.recv().await {
            Some(Event::Ready(ready)) => {
                let taken = ready.rest;
                let summary = self.shared.timed(taken.summary, taken.started);
                let changed = pipeline_crawl::CrawlState {
                    taken_as: taken.hash,
                    peaks: taken.peaks,
                    crawl: taken.crawl,
                };
                StagedResult {
                    changed: Some(changed),
                    ..self.stage(summary, fence)
                }
            }
            Some(Event::Through(summary)) => self.stage(*summary, fence),
            Some(Event::Batched) | None => self.stage(self.shared.blank_of(slug, store), fence),
        })
    }

    fn stage(&self, summary: StoreSummary, fence: i64) -> StagedResult {
        StagedResult {
            run: self.shared.run.clone(),
            store: summary.store.clone(),
            slug: summary.slug.clone(),
            fence,
            summary,
            changed: None,
        }
    }

    async fn registered(&self, slug: &BrandSlug, store: &StoreHost) -> Result<Option<RegisteredBrand>, RefreshError> {
        let mut registry = Registry::clone(&self.registry);
        registry.catch_up(&self.shared.storage).await?;
        Ok(registry.brand(slug).filter(|brand| brand.store == *store).cloned())
    }
}
