//! Processes one store of a run. Crawls it, reads the result, and decides if it is accepted.

mod judge;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use data_lake::{CatalogueRows, HashedRefresh, LakeError, LakeSnapshot};
use data_model::{BrandRefresh, BrandSlug, Clock, CurrencyCode, RunId, StoreHost};
use data_storage::{Storage, StorageError};
use pipeline_crawl::{
    CrawlError, CrawlJob, CrawlState, CrawledStore, Crawler, DisplayNames, LandingError, Peak, Progress,
    RegisteredBrand, StoreCrawl, Verdict, load_state, save_state,
};
use pipeline_parse::parse_product_html;
use storefront::{FetchOutcome, Reservation, StoreError, StoreRights, Storefront};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use crate::RefreshConfig;
use crate::categories::AskContext;
use crate::collapse::{HeldError, drop_held, load_held};
use crate::error::with_causes;
use crate::prepare::{NOTES, PageSource, PrepareError, PreparedCrawl, ProductNotes, ReadContext, prepare, reading_of};
use crate::ratings::Ratings;
use crate::reader::{MemoryQuota, page_reader};
use crate::summary::{ForeignPrices, Outcome, StoreSummary};

#[derive(Debug, Clone)]
pub(crate) struct InLake {
    pub(crate) hash: String,
    pub(crate) products: u64,
    pub(crate) currency: CurrencyCode,
    /// Run that wrote the data.
    pub(crate) run: RunId,
}

/// Data shared by all stores of a run.
#[derive(Debug)]
pub(crate) struct RunContext {
    pub(crate) storage: Storage,
    pub(crate) storefront: Storefront,
    pub(crate) crawler: Crawler,
    pub(crate) config: RefreshConfig,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) progress: Arc<dyn Progress>,
    pub(crate) cancel: CancellationToken,
    pub(crate) run: RunId,
    pub(crate) force: bool,
    pub(crate) dry_run: bool,
    pub(crate) lake: BTreeMap<StoreHost, InLake>,
    pub(crate) names: DisplayNames,
    /// Lake snapshot with the brands of `names`.
    pub(crate) snapshot: LakeSnapshot,
    pub(crate) rights: Option<Arc<dyn StoreRights>>,
    /// Memory quota for pages of stores that are still being crawled.
    pub(crate) read_ahead: MemoryQuota,
    /// One permit per catalogue that is being read.
    pub(crate) workers: Arc<Semaphore>,
}

/// Catalogue that is ready for the lake.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) refresh: HashedRefresh,
    pub(crate) rest: CommittedStore,
}

/// Remainder of a [`Ready`] after the lake has its products.
#[derive(Debug)]
pub(crate) struct CommittedStore {
    pub(crate) brand: RegisteredBrand,
    pub(crate) crawl: StoreCrawl,
    /// The lake stores the catalogue with this hash.
    pub(crate) hash: String,
    /// Earlier product counts of the brand.
    pub(crate) peaks: Vec<Peak>,
    pub(crate) summary: StoreSummary,
    pub(crate) started: Instant,
    /// Released when the products are out of memory.
    pub(crate) memory: Option<Reservation>,
}

impl CommittedStore {
    /// Size of the products in memory.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory.as_ref().map_or(0, Reservation::bytes)
    }
}

/// Message from a store's task to the collector.
#[derive(Debug)]
pub(crate) enum Event {
    Through(Box<StoreSummary>),
    /// The store has a catalogue for the lake.
    Ready(Box<Ready>),
    /// The stores sent so far can be committed without waiting for more.
    Batched,
}

/// Reason for not reading a store completely.
#[derive(Debug, thiserror::Error)]
enum StoreFailure {
    #[error(transparent)]
    Crawl(#[from] CrawlError),
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    #[error("the store's crawl state cannot be read or written")]
    State(#[from] LandingError),
    #[error(transparent)]
    Held(#[from] HeldError),
    #[error("saved data about products cannot be read or written")]
    Notes(#[from] StorageError),
    #[error("the store's products cannot be written as columns")]
    Columns(#[from] LakeError),
    #[error("a background task failed")]
    Worker(#[from] tokio::task::JoinError),
}

impl StoreFailure {
    const fn label(&self) -> &'static str {
        match self {
            Self::Crawl(error) => error.label(),
            Self::Prepare(error) => error.label(),
            Self::State(_) => "crawl_state",
            Self::Held(_) => "held_state",
            Self::Notes(_) => NOTES,
            Self::Columns(_) => "columns",
            Self::Worker(_) => "worker",
        }
    }
}

impl RunContext {
    /// Processes one store and sends the result, or the failure, to the collector.
    #[tracing::instrument(target = "trace::crawl", name = "crawl store", level = "info", skip_all, fields(brand.slug = %brand.slug))]
    pub(crate) async fn refresh_store(self: Arc<Self>, brand: RegisteredBrand, events: mpsc::Sender<Event>) {
        let started = Instant::now();
        let mut summary = self.blank(&brand);
        let event = match Box::pin(self.read_store(&brand, &mut summary, started)).await {
            Ok(Some(ready)) => Event::Ready(ready),
            Ok(None) => self.through(summary, started),
            Err(StoreFailure::Crawl(CrawlError::Cancelled)) => {
                summary.outcome = Outcome::Skipped;
                self.through(summary, started)
            }
            Err(failure) => {
                summary.outcome = Outcome::Failed {
                    code: failure.label().to_owned(),
                    reason: with_causes(&failure),
                };
                self.through(summary, started)
            }
        };
        // The receiver is gone if the run was abandoned.
        let _ = events.send(event).await;
    }

    /// Country whose prices are requested from stores.
    pub(crate) fn crawl_country(&self) -> Option<&str> {
        self.storefront.config().country.as_deref()
    }

    fn through(&self, summary: StoreSummary, started: Instant) -> Event {
        Event::Through(Box::new(self.timed(summary, started)))
    }

    /// Sets the end time and duration in the summary of a finished store.
    pub(crate) fn timed(&self, mut summary: StoreSummary, started: Instant) -> StoreSummary {
        summary.ended_at = self.clock.now();
        summary.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        summary
    }

    pub(crate) fn blank(&self, brand: &RegisteredBrand) -> StoreSummary {
        self.blank_of(&brand.slug, &brand.store)
    }

    pub(crate) fn blank_of(&self, slug: &BrandSlug, store: &StoreHost) -> StoreSummary {
        StoreSummary {
            slug: slug.clone(),
            store: store.clone(),
            outcome: Outcome::Skipped,
            products: self.lake.get(store).map_or(0, |known| known.products),
            variants: None,
            quarantined: None,
            pages: 0,
            requests: 0,
            bytes: 0,
            truncated: false,
            foreign_prices: None,
            codes: None,
            changes: None,
            reused_pages: 0,
            read_since: None,
            read_at: None,
            ended_at: self.clock.now(),
            duration_ms: 0,
        }
    }

    /// Returns `None` if there is nothing for the lake. The summary has the reason.
    async fn read_store(
        &self,
        brand: &RegisteredBrand,
        summary: &mut StoreSummary,
        started: Instant,
    ) -> Result<Option<Box<Ready>>, StoreFailure> {
        let in_lake = self.lake.get(&brand.store);
        let notes = ProductNotes::load(&self.storage, &brand.store).await?;
        let state = load_state(&self.storage, &brand.store).await?;
        let reading = reading_of(brand, &notes, self.crawl_country());
        // A crawl state describes the committed data. If the lake's data has changed since, the state's pages do not
        // describe it, but the facts that the store stated are still valid.
        let taken = |state: &CrawlState| in_lake.is_some_and(|known| known.hash == state.taken_as);
        let anew = self.force || !state.as_ref().is_some_and(taken);
        let known = state.as_ref().map(|state| &state.crawl);
        let currency_before = in_lake.map(|known| known.currency);
        let reader = page_reader(
            brand.clone(),
            currency_before,
            self.read_ahead.clone(),
            Arc::clone(&notes.omitted),
        );
        let shown = Box::pin(self.read_codes(brand, summary)).await;
        let job = CrawlJob {
            run: &self.run,
            brand,
            known,
            anew,
            products_before: in_lake.map(|known| known.products),
            shown,
            context: &reading,
        };
        let crawled = self
            .crawler
            .crawl_store(job, &reader, self.progress.as_ref(), &self.cancel);
        let CrawledStore { crawl, pages } = crawled.await?;
        if shown.is_some() && shown != crawl.facts.presented {
            self.remember_shown(brand, crawl.facts.presented).await;
        }
        summary.pages = u32::try_from(crawl.pages.len()).unwrap_or(u32::MAX);
        (summary.requests, summary.bytes, summary.truncated) = (crawl.requests, crawl.bytes, crawl.truncated);
        (summary.read_since, summary.read_at) = (Some(crawl.started_at), Some(crawl.ended_at));
        // If a country was requested, its currency is intended and not foreign.
        let chosen_by_store = self.crawl_country().is_none();
        summary.foreign_prices = ForeignPrices::of(&crawl.facts).filter(|_| chosen_by_store);
        summary.reused_pages = crawl.reused_pages;
        let comparable = state.as_ref().filter(|_| !anew);
        let Some(state) = comparable.filter(|_| crawl.verdict == Verdict::Unchanged) else {
            // An unchanged crawl without its earlier state was resumed within this run, and the state existed before
            // the interruption. The landing that it names has its pages.
            let crawled = CrawledStore { crawl, pages };
            let judged = self.judge(brand, crawled, notes, state.as_ref(), summary, started);
            return judged.await;
        };
        if self.reads_more(&notes) {
            let crawl = crawl.clone();
            let crawled = CrawledStore { crawl, pages };
            let judged = self.judge(brand, crawled, notes, Some(state), summary, started);
            match judged.await {
                // Without the landed pages, the products to read are unknown. The catalogue is unchanged in any case.
                Err(StoreFailure::Prepare(PrepareError::Landing(_))) => {}
                judged => return judged,
            }
        }
        summary.outcome = Outcome::Unchanged;
        self.note_unchanged(state, crawl).await?;
        Ok(None)
    }

    /// Returns true if the store of an unchanged catalogue is queried for more about its products.
    fn reads_more(&self, notes: &ProductNotes) -> bool {
        let now = self.clock.now();
        let asks = (self.config.category_requests_max > 0 && notes.categories.is_due(now))
            || (self.config.variant_requests_max > 0 && notes.omitted.is_due(now));
        !self.dry_run && (self.config.product_pages_max > 0 || asks)
    }

    async fn note_unchanged(&self, state: &CrawlState, crawl: StoreCrawl) -> Result<(), StoreFailure> {
        let moved = state.crawl.pages != crawl.pages || state.crawl.verified_at != crawl.verified_at;
        if self.dry_run {
            return Ok(());
        }
        if moved {
            save_state(
                &self.storage,
                &CrawlState {
                    taken_as: state.taken_as.clone(),
                    peaks: state.peaks.clone(),
                    crawl,
                },
            )
            .await?;
        }
        // The store lists the lake's products again, so that its held-back crawl is discarded.
        self.forget_held(&state.crawl.store).await
    }

    async fn forget_held(&self, store: &StoreHost) -> Result<(), StoreFailure> {
        if !self.dry_run && load_held(&self.storage, store).await?.is_some() {
            drop_held(&self.storage, store).await?;
        }
        Ok(())
    }

    /// Reads the pages of a few products, one after another, until the store refuses more.
    async fn read_product_pages(
        &self,
        brand: &RegisteredBrand,
        ratings: &mut Ratings,
        products: &CatalogueRows,
    ) -> Result<(), StoreFailure> {
        let store = self.storefront.store(&brand.base_url).map_err(CrawlError::Store)?;
        ratings.keep_only(products.ids());
        for (product, handle) in ratings.due(products, self.config.product_pages_max) {
            let fetched = tokio::select! {
                biased;
                () = self.cancel.cancelled() => break,
                fetched = store.product_html(&handle) => fetched,
            };
            let facts = match fetched {
                Ok(FetchOutcome::Body(page)) => {
                    let parse = move || parse_product_html(&String::from_utf8_lossy(&page.bytes));
                    Some(tokio::task::spawn_blocking(parse).await?)
                }
                // The page is not available. Its read time is still updated, so that it does not block other pages.
                Ok(FetchOutcome::NotModified) => None,
                Err(StoreError::Status { .. } | StoreError::TooLarge { .. } | StoreError::Url { .. }) => None,
                Err(StoreError::RobotsDisallowed { .. } | StoreError::Redirect { .. }) => None,
                Err(error) => {
                    tracing::debug!(brand.slug = %brand.slug, error = with_causes(&error), "the catalogue has no more product pages");
                    break;
                }
            };
            ratings.note(product, self.clock.now(), facts);
        }
        Ok(ratings.save(&self.storage, &brand.store).await?)
    }

    /// Builds the catalogue from a crawl's pages.
    async fn prepare(
        &self,
        brand: &RegisteredBrand,
        crawl: &StoreCrawl,
        source: PageSource,
        notes: &mut ProductNotes,
        asking: Option<AskContext<'_>>,
    ) -> Result<PreparedCrawl, PrepareError> {
        let currency_before = self.lake.get(&brand.store).map(|known| known.currency);
        let reading = ReadContext {
            source,
            memory: self.storefront.memory(),
            workers: &self.workers,
            variants_max: self.config.variants_max,
            crawl_country: self.crawl_country(),
            categories: &mut notes.categories,
            omitted: &mut notes.omitted,
            asking,
        };
        let prepared = prepare(
            &self.storage,
            &self.run,
            brand,
            crawl,
            &self.snapshot,
            currency_before,
            reading,
        );
        let mut prepared = prepared.await?;
        let name = &mut prepared.refresh.brand.name;
        *name = self.names.shown(brand, name).into_owned();
        Ok(prepared)
    }

    /// Rebuilds a worker's catalogue from its pages for the lake, within the available memory.
    pub(crate) async fn ready_again(
        &self,
        brand: &RegisteredBrand,
        state: CrawlState,
        summary: StoreSummary,
    ) -> Result<Ready, (&'static str, String)> {
        let CrawlState { peaks, crawl, .. } = state;
        let made = self.made_again(brand, &crawl, PageSource::Crawl(None)).await;
        let (refresh, memory) = made.map_err(|error| (error.label(), with_causes(&error)))?;
        // The start is moved back, so that the time of the worker's crawl counts too.
        let crawled = std::time::Duration::from_millis(summary.duration_ms);
        let started = Instant::now().checked_sub(crawled).unwrap_or_else(Instant::now);
        let hash = refresh.hash().to_owned();
        let rest = CommittedStore {
            brand: brand.clone(),
            crawl,
            hash,
            peaks,
            summary,
            started,
            memory,
        };
        Ok(Ready { refresh, rest })
    }

    /// Rebuilds the catalogue that was already built from these pages.
    pub(crate) async fn prepare_again(
        &self,
        brand: &RegisteredBrand,
        crawl: &StoreCrawl,
    ) -> Result<HashedRefresh, (&'static str, String)> {
        let made = self.made_again(brand, crawl, PageSource::Landing).await;
        made.map(|(refresh, _)| refresh)
            .map_err(|error| (error.label(), with_causes(&error)))
    }

    /// Builds a catalogue from its pages and the saved notes on its products, without querying the store.
    async fn made_again(
        &self,
        brand: &RegisteredBrand,
        crawl: &StoreCrawl,
        source: PageSource,
    ) -> Result<(HashedRefresh, Option<Reservation>), StoreFailure> {
        let mut notes = ProductNotes::load(&self.storage, &brand.store).await?;
        let PreparedCrawl { refresh, memory, .. } = self.prepare(brand, crawl, source, &mut notes, None).await?;
        Ok((rated(refresh, notes.ratings).await?, memory))
    }

    /// Returns the parameters for asking the store for more about its products, if it may be asked in this run.
    fn asking<'a>(&'a self, brand: &'a RegisteredBrand) -> Result<Option<AskContext<'a>>, StoreFailure> {
        if self.dry_run {
            return Ok(None);
        }
        let store = self.storefront.store(&brand.base_url).map_err(CrawlError::Store)?;
        Ok(Some(AskContext {
            storage: &self.storage,
            host: &brand.store,
            store,
            clock: self.clock.as_ref(),
            cancel: &self.cancel,
            country: self.crawl_country(),
            requests_max: self.config.category_requests_max,
            variant_requests_max: self.config.variant_requests_max,
        }))
    }
}

/// Adds ratings to the catalogue and computes its hash in the lake.
async fn rated(mut refresh: BrandRefresh<CatalogueRows>, ratings: Ratings) -> Result<HashedRefresh, StoreFailure> {
    let hashed = tokio::task::spawn_blocking(move || {
        ratings.apply(&mut refresh.products);
        HashedRefresh::of_rows(refresh)
    });
    Ok(hashed.await??)
}
