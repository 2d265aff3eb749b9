//! Crawls the whole catalogue of one store, page by page and in one rate-limited request stream.

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

use data_model::{Clock, CurrencyCode, RunId, Timestamp};
use data_storage::Storage;
use futures::future::BoxFuture;
use storefront::{FetchOutcome, Store, StoreError, Storefront};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::hold::{drop_hold, load_hold, save_hold};
use crate::landing::{META, PageReading, compress, put_compressed, put_done, read_done};
use crate::place::Place;
use crate::{CrawlConfig, CrawlError, LandingError, PageReader, Progress, RegisteredBrand, StoreCrawl, StoreFacts};
use identity::Identity;
pub(crate) use identity::stray;
pub(crate) use presented::{front_currency, presented_by};
use walk::{DescribedStore, Walk};

/// Bytes per permit of the parsing semaphore.
const SCAN_UNIT: u64 = 64 << 10;

fn scan_permits_of(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(SCAN_UNIT).clamp(1, Semaphore::MAX_PERMITS as u64)).unwrap_or(u32::MAX)
}

/// Duration longer than any program runs.
const NEVER: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

/// Parameters of one store's crawl.
#[derive(Debug, Clone, Copy)]
pub struct CrawlJob<'a> {
    /// Run that crawls the store.
    pub run: &'a RunId,
    /// Brand whose store is crawled.
    pub brand: &'a RegisteredBrand,
    /// Last crawl in the lake. With `None`, everything is read.
    pub known: Option<&'a StoreCrawl>,
    /// Reads everything even if `known` is set. The store's facts and products in `known` are still used.
    pub anew: bool,
    /// Number of the brand's products, if the caller knows it. A listing that changed during the crawl and shows fewer
    /// is read again.
    pub products_before: Option<u64>,
    /// Currency that the store's front page showed when it was last read. Pages that state no currency are read in it if
    /// no country's prices are requested.
    pub shown: Option<CurrencyCode>,
    /// Fingerprint, defined by the caller, of everything that affects how pages are parsed. If it differs from that in
    /// `known`, the pages are landed even if none changed.
    pub context: &'a str,
}

/// Crawl of a store with the data that a page reader extracted.
#[derive(Debug)]
pub struct CrawledStore<T> {
    /// Result of the crawl.
    pub crawl: StoreCrawl,
    /// Extracted data of each page of [`StoreCrawl::landed`]. `None` unless all pages were read in this crawl and kept.
    pub pages: Option<Vec<T>>,
}

/// Larger self-descriptions are not landed.
const META_BYTES_MAX: usize = 64 << 10;

/// Crawls a limited number of stores concurrently, each with one request stream.
#[derive(Debug, Clone)]
pub struct Crawler {
    pub(crate) storefront: Storefront,
    pub(crate) storage: Storage,
    pub(crate) config: Arc<CrawlConfig>,
    pub(crate) clock: Arc<dyn Clock>,
    /// One permit per store in progress.
    open: Arc<Semaphore>,
    /// One permit per store that is worked on.
    places: Arc<Semaphore>,
    /// One permit per `SCAN_UNIT` bytes of pages that are parsed.
    scans: Arc<Semaphore>,
}

impl Crawler {
    /// Creates a crawler that lands pages in `storage`.
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

    #[must_use]
    /// Returns the limits of the crawler.
    pub fn config(&self) -> &CrawlConfig {
        &self.config
    }

    /// Reads the store's whole catalogue. The crawl starts once fewer than the configured number of stores are in
    /// progress. It pauses whenever more stores than that are in progress. After a killed process, the next call for
    /// the same run resumes from the landed pages.
    ///
    /// The caller must call [`crate::save_state`] once the lake has the result.
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
            // The semaphore is never closed, so that the permit is always granted.
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

    /// Waits until the time that the store named in an earlier run. Returns `false` if there was none. Fails if the
    /// wait is longer than the maximum for a `Retry-After` answer.
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

    /// Stores the end of the pause that the store requested, for the next run.
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

    /// Country whose prices are requested.
    pub(crate) fn country(&self) -> Option<&str> {
        self.storefront.config().country.as_deref()
    }

    /// Pages of an interrupted crawl that were read earlier are too old to reuse.
    pub(crate) fn resumable_since(&self) -> Timestamp {
        let age_ms = i64::try_from(self.config.resume_page_age_s_max.saturating_mul(1000)).unwrap_or(i64::MAX);
        self.clock.now().plus_millis(age_ms.saturating_neg())
    }

    /// A time in the future comes from a wrong clock, so that the page's age is unknown.
    fn is_resumable_at(&self, read_at: Timestamp) -> bool {
        self.resumable_since() <= read_at && read_at <= self.clock.now()
    }

    pub(crate) fn may_resume(&self, job: CrawlJob<'_>, reading: &PageReading) -> bool {
        let read_at = reading.read_at;
        self.is_resumable_at(read_at) && job.is_newest(read_at) && reading.country.as_deref() == self.country()
    }

    fn scan_permits(&self, bytes: u64) -> u32 {
        scan_permits_of(bytes).min(scan_permits_of(self.config.scan_bytes_max))
    }

    /// Returns the time at which a pass must end that starts now.
    fn deadline(&self) -> Instant {
        let now = Instant::now();
        let bound = Duration::from_secs(self.config.store_time_s_max);
        // A deadline beyond the clock's range counts as never.
        now.checked_add(bound).unwrap_or(now + NEVER)
    }

    /// Fails after the deadline.
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
        // A fact that the store does not state now stays as the store last stated it.
        let facts = match job.known {
            Some(known) => facts.or_as_known(&known.facts, at.is_some()),
            None => facts,
        };
        let shown = place.during(Box::pin(self.shown(&job, &store, &facts, at.as_ref())));
        let shown = self.timely(deadline, shown).await?;
        // Unchanged pages would still count as amounts in the earlier currency.
        let anew = job.anew || shown != job.shown;
        let job = CrawlJob { shown, anew, ..job };
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
            // Unchanged pages, and pages from an interrupted crawl, may show amounts in the currency of an earlier
            // request.
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
                let rest = walk.read_rest().await;
                truncated = rest.map_err(|error| walk.told(error))?;
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

    /// Returns the currency that the front page shows. It is read again if the store states another currency of its own
    /// than before, since the shown one has probably changed as well.
    async fn shown(
        &self,
        job: &CrawlJob<'_>,
        store: &Store,
        facts: &StoreFacts,
        described_at: Option<&Url>,
    ) -> Result<Option<CurrencyCode>, CrawlError> {
        let before = job.known.and_then(|known| known.facts.currency);
        if self.country().is_some() || before.is_none() || before == facts.currency {
            return Ok(job.shown);
        }
        let is_own = |url: &Url| stray(&job.brand.base_url, described_at, url).is_none();
        front_currency(store.front_page(None).await, is_own).map_err(|source| CrawlError::Page {
            page: "its front page".to_owned(),
            source,
        })
    }

    /// Validators expire, because a store that returns 304 for every request must not hide changes forever.
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
    /// Returns true if this run's page of this time is newer than everything that another run committed since.
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

/// Compares the store with its last crawl, and reads it if it differs. Pages that this run has landed are reused if
/// allowed. Returns true if a limit was reached before the end, and `None` if nothing changed.
async fn read<T: Send + Sync + 'static>(walk: &mut Walk<'_, T>, may_resume: bool) -> Result<Option<bool>, CrawlError> {
    let resumed = if may_resume { walk.find_resumable().await? } else { 0 };
    let unchanged = resumed == 0 && walk.is_comparable() && walk.compare().await?;
    if unchanged {
        return Ok(None);
    }
    walk.read_all(resumed).await.map(Some)
}

#[derive(Debug, Default)]
struct StoreDescription {
    facts: StoreFacts,
    /// Verbatim response body.
    meta: Option<bytes::Bytes>,
    /// Address that responded. `None` without a response that could be parsed.
    at: Option<url::Url>,
}

/// A store that refuses its self-description may still show its catalogue. A store that throttles, blocks us or is down
/// does not.
async fn read_meta(store: &Store) -> Result<StoreDescription, CrawlError> {
    match store.meta().await {
        Ok(FetchOutcome::Body(page)) => {
            let facts = StoreFacts::read(&page.bytes);
            Ok(StoreDescription {
                at: facts.is_some().then_some(page.url),
                facts: facts.unwrap_or_default(),
                // The description is kept for the whole crawl, and is copied so that the memory reserved for a page is
                // freed.
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

/// Returns true if the refusal is permanent and concerns only this page.
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
