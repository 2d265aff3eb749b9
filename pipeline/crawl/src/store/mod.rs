//! The crawl of one store: its whole catalogue, page by page, in one polite stream.

mod collections;
mod identity;
mod listing;
mod obtain;
mod page;
mod presented;
mod visit;
mod walk;

use std::sync::Arc;
use std::time::Duration;

use data_model::{Clock, RunId, Timestamp};
use data_storage::Storage;
use futures::future::BoxFuture;
use storefront::{FetchOutcome, Store, StoreError, Storefront};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::hold::{drop_hold, load_hold, save_hold};
use crate::landing::{META, PageReading, compress, put_compressed, put_done, read_done};
use crate::place::Place;
use crate::{CrawlConfig, CrawlError, LandingError, PageReader, Progress, RegisteredBrand, StoreCrawl, StoreFacts};
use identity::Identity;
pub(crate) use identity::stray;
pub(crate) use presented::front_currency;
use walk::{DescribedStore, Walk};

/// Bytes that one permit to understand pages stands for.
const SCAN_UNIT: u64 = 64 << 10;

fn scan_permits_of(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(SCAN_UNIT).clamp(1, Semaphore::MAX_PERMITS as u64)).unwrap_or(u32::MAX)
}

/// Longer than any program runs.
const NEVER: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

/// The task of a crawl.
#[derive(Debug, Clone, Copy)]
pub struct CrawlJob<'a> {
    /// The run that asks.
    pub run: &'a RunId,
    /// The brand whose store is crawled.
    pub brand: &'a RegisteredBrand,
    /// The last crawl that the lake has; `None` reads everything anew.
    pub known: Option<&'a StoreCrawl>,
    /// Reads everything anew in spite of `known`: what the store said of itself, and which products it had, is known
    /// all the same.
    pub anew: bool,
    /// Products that the brand has, where the caller knows: a listing that moved while it was read and shows fewer is read once
    /// more.
    pub products_before: Option<u64>,
    /// The caller's fingerprint of all that decides how pages are understood. When it differs from that of `known`,
    /// the pages are landed even if none changed.
    pub context: &'a str,
}

/// The crawl of a store, and what a reader made of its pages.
#[derive(Debug)]
pub struct CrawledStore<T> {
    /// The crawl.
    pub crawl: StoreCrawl,
    /// One for each page of [`StoreCrawl::landed`]; `None` unless all of them were read now, and kept.
    pub pages: Option<Vec<T>>,
}

/// Longest description of a store that is landed.
const META_BYTES_MAX: usize = 64 << 10;

/// Crawls stores, so many at a time and each by one stream.
#[derive(Debug, Clone)]
pub struct Crawler {
    pub(crate) storefront: Storefront,
    pub(crate) storage: Storage,
    pub(crate) config: Arc<CrawlConfig>,
    pub(crate) clock: Arc<dyn Clock>,
    /// One permit a store on its way.
    open: Arc<Semaphore>,
    /// One permit a store at work.
    places: Arc<Semaphore>,
    /// One permit for so many bytes of pages that are being understood.
    scans: Arc<Semaphore>,
}

impl Crawler {
    /// A crawler that lands pages in `storage`.
    #[must_use]
    pub fn new(storefront: Storefront, storage: Storage, config: CrawlConfig, clock: Arc<dyn Clock>) -> Self {
        let semaphore = |permits: usize| Arc::new(Semaphore::new(permits.clamp(1, Semaphore::MAX_PERMITS)));
        let places = semaphore(config.stores_concurrent);
        let open = semaphore(config.stores_open());
        let scans = Arc::new(Semaphore::new(scan_permits_of(config.scan_bytes_max) as usize));
        Self {
            storefront,
            storage,
            config: Arc::new(config),
            clock,
            open,
            places,
            scans,
        }
    }

    /// The bounds that it keeps.
    #[must_use]
    pub fn config(&self) -> &CrawlConfig {
        &self.config
    }

    /// Reads the store's whole catalogue, waiting first until fewer than the configured number of stores are on their way,
    /// and whenever more than the configured number are at work. What this run has landed of the store before is not asked for again. A kill at any moment leaves
    /// a landing that the next call for the same run goes on with.
    ///
    /// The crawl state is left alone: it is for the caller to [`crate::save_state`] once the lake has the result.
    ///
    /// # Errors
    /// See [`CrawlError`].
    pub fn crawl_store<'a, T: Send + Sync + 'static>(
        &'a self,
        job: CrawlJob<'a>,
        reader: &'a Arc<PageReader<T>>,
        progress: &'a dyn Progress,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<CrawledStore<T>, CrawlError>> {
        Box::pin(self.crawl_unless_done(job, reader, progress, cancel))
    }

    async fn crawl_unless_done<T: Send + Sync + 'static>(
        &self,
        job: CrawlJob<'_>,
        reader: &Arc<PageReader<T>>,
        progress: &dyn Progress,
        cancel: &CancellationToken,
    ) -> Result<CrawledStore<T>, CrawlError> {
        let done = read_done(&self.storage, job.run, &job.brand.store)
            .await
            .map_err(|source| job.landing(source))?;
        let is_newest = |done: &StoreCrawl| self.is_resumable_at(done.ended_at) && job.is_newest(done.started_at);
        if let Some(done) = done.filter(|done| done.context == job.context && is_newest(done)) {
            let reused_pages = u32::try_from(done.pages.len()).unwrap_or(u32::MAX);
            return Ok(CrawledStore {
                crawl: StoreCrawl { reused_pages, ..done },
                pages: None,
            });
        }
        let crawl = async {
            let was_held = self.keep_hold(job).await?;
            // Never closed, so the permit is always given.
            let permit = self.open.acquire().await;
            let crawled = Box::pin(self.crawl(job, reader, progress)).await;
            drop(permit);
            self.note_hold(job, was_held, crawled.as_ref().err()).await?;
            crawled
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(CrawlError::Cancelled),
            crawled = crawl => crawled,
        }
    }

    /// Waits until the time that the store named to an earlier run, if that is not longer than any answer of a store is
    /// waited for; whether it had named one.
    async fn keep_hold(&self, job: CrawlJob<'_>) -> Result<bool, CrawlError> {
        let hold = load_hold(&self.storage, &job.brand.store, self.clock.now()).await;
        let Some(until) = hold.map_err(|source| job.landing(source))? else {
            return Ok(false);
        };
        let wait_ms = u64::try_from(until.millis_since(self.clock.now())).unwrap_or(0);
        if wait_ms > self.storefront.config().retry_after_max_ms {
            return Err(CrawlError::AskedToWait { until });
        }
        tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        Ok(true)
    }

    /// Remembers until when the store wants to be left alone, for the next run.
    async fn note_hold(
        &self,
        job: CrawlJob<'_>,
        was_held: bool,
        failed: Option<&CrawlError>,
    ) -> Result<(), CrawlError> {
        let store = &job.brand.store;
        let asked = match failed {
            Some(CrawlError::Store(error) | CrawlError::Page { source: error, .. }) => error.asks_to_wait(),
            _ => None,
        };
        let noted = match asked {
            Some(wait) => {
                let wait_ms = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
                save_hold(&self.storage, store, self.clock.now().plus_millis(wait_ms)).await
            }
            None if was_held => drop_hold(&self.storage, store).await,
            None => Ok(()),
        };
        noted.map_err(|source| job.landing(source))
    }

    /// The country whose prices are asked for.
    pub(crate) fn country(&self) -> Option<&str> {
        self.storefront.config().country.as_deref()
    }

    /// The moment before which the pages of an interrupted crawl are read again.
    pub(crate) fn resumable_since(&self) -> Timestamp {
        let age_ms = i64::try_from(self.config.resume_page_age_s_max.saturating_mul(1000)).unwrap_or(i64::MAX);
        self.clock.now().plus_millis(age_ms.saturating_neg())
    }

    /// True where the page that an interrupted crawl read then may be gone on from. One that is of a later time than now was
    /// dated by a clock that was wrong: nobody knows how old it is.
    fn is_resumable_at(&self, read_at: Timestamp) -> bool {
        self.resumable_since() <= read_at && read_at <= self.clock.now()
    }

    /// True of a page of an interrupted crawl's landing that may be gone on from.
    pub(crate) fn may_resume(&self, job: CrawlJob<'_>, reading: &PageReading) -> bool {
        let read_at = reading.read_at;
        self.is_resumable_at(read_at) && job.is_newest(read_at) && reading.country.as_deref() == self.country()
    }

    /// Permits that it takes to understand a page of so many bytes.
    fn scan_permits(&self, bytes: u64) -> u32 {
        scan_permits_of(bytes).min(scan_permits_of(self.config.scan_bytes_max))
    }

    /// The moment at which a reading that begins now must be over.
    fn deadline(&self) -> Instant {
        let now = Instant::now();
        let bound = Duration::from_secs(self.config.store_time_s_max);
        // Further away than the clock goes is never.
        now.checked_add(bound).unwrap_or(now + NEVER)
    }

    /// The outcome of a part of a crawl, if it has one by then.
    async fn timely<T>(
        &self,
        deadline: Instant,
        part: impl Future<Output = Result<T, CrawlError>>,
    ) -> Result<T, CrawlError> {
        let seconds_max = self.config.store_time_s_max;
        let timed = tokio::time::timeout_at(deadline, part).await;
        timed.unwrap_or(Err(CrawlError::TooSlow { seconds_max }))
    }

    async fn crawl<T: Send + Sync + 'static>(
        &self,
        job: CrawlJob<'_>,
        reader: &Arc<PageReader<T>>,
        progress: &dyn Progress,
    ) -> Result<CrawledStore<T>, CrawlError> {
        let mut place = Place::taken(&self.places).await;
        let (started_at, deadline) = (self.clock.now(), self.deadline());
        let store = self.storefront.store(&job.brand.base_url)?;
        let StoreDescription { facts, meta, at } =
            self.timely(deadline, place.during(Box::pin(read_meta(&store)))).await?;
        let identity = Identity::established(job.brand, job.known, &facts, at.as_ref())?;
        progress.store_started(&job.brand.slug, facts.published_products);
        // A fact that the store does not state now stands as it stated it last.
        let facts = match job.known {
            Some(known) => facts.or_as_known(&known.facts, at.is_some()),
            None => facts,
        };
        let comparable = job.known.filter(|_| !job.anew);
        let validators = comparable.is_some_and(|known| self.still_trusted(known));
        let described = DescribedStore {
            store,
            identity,
            facts: &facts,
        };
        let mut walk = Walk::new(self, job, reader, described.clone(), place, validators, progress);
        walk.read_since = started_at;
        let read = match self.timely(deadline, read(&mut walk, true)).await {
            // Pages that the store says are as they were, or that an interrupted crawl read, may show amounts in what it
            // showed them in then.
            Err(CrawlError::CurrencyMixed { .. }) if comparable.is_some() || walk.reused_pages > 0 => {
                let anew = CrawlJob { anew: true, ..job };
                let before = (walk.requests, walk.bytes);
                walk = Walk::new(self, anew, reader, described, walk.place, false, progress);
                (walk.requests, walk.bytes, walk.bytes_before) = (before.0, before.1, before.1);
                self.timely(deadline, read(&mut walk, false)).await
            }
            read => read,
        };
        let read = read.map_err(|error| walk.told(error))?;
        let mut truncated = read.unwrap_or_else(|| job.known.is_some_and(|known| known.truncated));
        if read.is_some() {
            if !truncated {
                let missed = walk.read_missed().await;
                missed.map_err(|error| walk.told(error))?;
                truncated = walk.falls_short();
            }
            self.land_meta(job, meta).await?;
        }
        let unchanged = read.is_none();
        let verified_at = job
            .known
            .filter(|_| validators)
            .map_or(started_at, |known| known.verified_at);
        let kept = std::mem::take(&mut walk.kept).into_iter();
        let pages = if unchanged { None } else { kept.collect() };
        let mut crawl = walk.finish(unchanged, truncated);
        (crawl.ended_at, crawl.verified_at) = (self.clock.now(), verified_at);
        put_done(&self.storage, &crawl)
            .await
            .map_err(|source| job.landing(source))?;
        Ok(CrawledStore { crawl, pages })
    }

    /// Validators are believed for a while only: a store that answers 304 for ever must not hide its changes for ever.
    fn still_trusted(&self, known: &StoreCrawl) -> bool {
        let age_ms = self.clock.now().millis_since(known.verified_at);
        u64::try_from(age_ms / 1000).is_ok_and(|seconds| seconds < self.config.verify_after_s)
    }

    async fn land_meta(&self, job: CrawlJob<'_>, meta: Option<bytes::Bytes>) -> Result<(), CrawlError> {
        let Some(meta) = meta else { return Ok(()) };
        let frame = compress(&meta).map_err(|source| {
            job.landing(LandingError::Zstd {
                path: crate::landing::landed_at(job.run, &job.brand.store, META),
                source,
            })
        })?;
        let put = put_compressed(&self.storage, job.run, &job.brand.store, META, frame.into()).await;
        put.map_err(|source| job.landing(source))
    }
}

impl CrawlJob<'_> {
    /// True where a page that this run read then is newer than all that another run brought since.
    fn is_newest(&self, read_at: Timestamp) -> bool {
        self.known
            .is_none_or(|known| known.run == *self.run || known.ended_at <= read_at)
    }

    fn landing(&self, source: LandingError) -> CrawlError {
        CrawlError::Landing {
            store: self.brand.store.clone(),
            source,
        }
    }
}

/// Compares the store with its last crawl and, where it differs, reads it, going on from what this run has landed if it
/// may: whether a bound was met before its end, `None` if nothing differs.
async fn read<T: Send + Sync + 'static>(walk: &mut Walk<'_, T>, may_resume: bool) -> Result<Option<bool>, CrawlError> {
    let resumed = if may_resume { walk.find_resumable().await? } else { 0 };
    let unchanged = resumed == 0 && walk.is_comparable() && walk.compare().await?;
    if unchanged {
        return Ok(None);
    }
    walk.read_all(resumed).await.map(Some)
}

/// A store's description of itself.
#[derive(Debug, Default)]
struct StoreDescription {
    facts: StoreFacts,
    /// As it was said.
    meta: Option<bytes::Bytes>,
    /// Its address; `None` if nothing was said that can be understood.
    at: Option<url::Url>,
}

/// The store's description of itself. A store that keeps that to itself may still show its catalogue; one that is throttled,
/// closed to us or down does not.
async fn read_meta(store: &Store) -> Result<StoreDescription, CrawlError> {
    match store.meta().await {
        Ok(FetchOutcome::Body(page)) => {
            let facts = StoreFacts::read(&page.bytes);
            Ok(StoreDescription {
                at: facts.is_some().then_some(page.url),
                facts: facts.unwrap_or_default(),
                // Kept until the crawl is over, and so without the memory of a page.
                meta: (page.bytes.len() <= META_BYTES_MAX).then(|| bytes::Bytes::copy_from_slice(&page.bytes)),
            })
        }
        Ok(FetchOutcome::NotModified) => Err(CrawlError::UnaskedNotModified),
        Err(error) if is_only_this_page(&error) => Ok(StoreDescription::default()),
        Err(source) => Err(CrawlError::Page {
            page: "its meta.json".to_owned(),
            source,
        }),
    }
}

/// True where the refusal is about one page, for good, and says nothing of the store's others.
pub(crate) fn is_only_this_page(error: &StoreError) -> bool {
    let of_the_page = matches!(
        error,
        StoreError::RobotsDisallowed { .. }
            | StoreError::CatalogueClosed { .. }
            | StoreError::NotJson { .. }
            | StoreError::TooLarge { .. }
            | StoreError::OverBudget { .. }
            | StoreError::Url { .. }
            | StoreError::Status { .. }
    );
    of_the_page && !error.is_transient()
}
