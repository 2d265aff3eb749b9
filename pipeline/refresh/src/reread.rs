//! A landed crawl, read again without its store: what a backfill is made of.

use std::time::{Duration, Instant};

use async_recursion::async_recursion as boxed;
use data_lake::{BrandRow, CatalogueRows, HashedRefresh, LakeError, LakeSnapshot, Offering, content_hash};
use data_model::{BrandRefresh, CurrencyCode, Timestamp};
use data_storage::Storage;
use pipeline_crawl::{DisplayNames, RegisteredBrand, Registry, StoreCrawl, Verdict, read_page};
use pipeline_normalise::PageRead;
use storefront::MemoryBudget;
use tokio::sync::Semaphore;

use crate::collapse::{CrawlFigures, LakeFigures, compare};
use crate::error::with_causes;
use crate::prepare::{PageSource, PreparedCrawl, ReadContext, prepare, reading_of};
use crate::ratings::Ratings;
use crate::reader::{Columns, context_of};
use crate::{HoldReason, RefreshConfig};

/// The reason why landed pages cannot be read again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct RereadError {
    /// One word of a closed list, as that of a crawl that failed.
    pub code: String,
    /// The fault, with its causes.
    pub reason: String,
}

/// Reads landed crawls of stores again.
#[derive(Debug)]
pub struct Rereader {
    storage: Storage,
    snapshot: LakeSnapshot,
    config: RefreshConfig,
    names: DisplayNames,
    country: Option<String>,
    memory: MemoryBudget,
    /// Never the bound: whoever reads again says how many stores are read at the same time.
    workers: Semaphore,
}

/// A store's landed catalogue as this program understands it.
#[derive(Debug)]
pub struct RereadCatalogue {
    prepared: PreparedCrawl,
    reading: String,
    hash: String,
}

impl RereadCatalogue {
    /// The products.
    #[must_use]
    pub fn rows(&self) -> &CatalogueRows {
        &self.prepared.refresh.products
    }

    /// The currency of the prices.
    #[must_use]
    pub fn currency(&self) -> CurrencyCode {
        self.prepared.refresh.brand.currency
    }

    /// [`HashedRefresh::hash`] of what the lake would have.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The purpose for which the pages were read, as the crawl's state is to know.
    #[must_use]
    pub fn reading(&self) -> &str {
        &self.reading
    }

    /// The catalogue for the lake.
    ///
    /// # Errors
    /// As [`HashedRefresh::of_rows`].
    pub fn into_refresh(self) -> Result<HashedRefresh, LakeError> {
        HashedRefresh::of_rows(self.prepared.refresh)
    }
}

impl Rereader {
    /// Reads as a crawl with this configuration does; `country` is the one whose prices the stores were asked for. Products
    /// that pages list in a way that cannot be understood stay as `snapshot` has them.
    ///
    /// # Errors
    /// The storage fails, or a file of `brands` cannot be read.
    #[boxed]
    pub async fn new(
        storage: Storage,
        snapshot: LakeSnapshot,
        registry: &Registry,
        config: RefreshConfig,
        country: Option<String>,
        stores_at_once: usize,
    ) -> Result<Self, LakeError> {
        let mut names = DisplayNames::registered(registry);
        for row in snapshot.readable_brands().await? {
            if let Some(brand) = registry.brand_of(&row.brand.store) {
                names.show(brand, &row.brand.name);
            }
        }
        Ok(Self {
            memory: MemoryBudget::new(config.memory_bytes_max, stores_at_once),
            storage,
            snapshot,
            config,
            names,
            country,
            workers: Semaphore::new(Semaphore::MAX_PERMITS),
        })
    }

    /// The catalogue that a landed crawl found; `in_lake` is what the lake has of the brand.
    ///
    /// # Errors
    /// A page is gone, damaged or none, or the currency of the prices is not known.
    #[boxed]
    pub async fn read(
        &self,
        brand: &RegisteredBrand,
        crawl: &StoreCrawl,
        in_lake: Option<&BrandRow>,
    ) -> Result<RereadCatalogue, RereadError> {
        let reading = ReadContext {
            source: PageSource::Landing,
            memory: &self.memory,
            workers: &self.workers,
            variants_max: self.config.variants_max,
            crawl_country: self.country.as_deref(),
        };
        let (landing, currency_before) = (&crawl.landing, in_lake.map(|row| row.brand.currency));
        let (storage, lake) = (&self.storage, &self.snapshot);
        let prepared = prepare(storage, landing, brand, crawl, lake, currency_before, reading).await;
        let mut prepared = prepared.map_err(|error| RereadError {
            code: error.label().to_owned(),
            reason: with_causes(&error),
        })?;
        let ratings = Ratings::load(&self.storage, &brand.store).await;
        let ratings = ratings.map_err(|error| failed("ratings_state", &error))?;
        let reading = reading_of(brand, &ratings, self.country.as_deref());
        let refresh = &mut prepared.refresh;
        refresh.brand.name = self.names.shown(brand, &refresh.brand.name).into_owned();
        refresh.observed_at = observed_at(crawl, in_lake);
        refresh.read_since = refresh.read_since.min(refresh.observed_at);
        let done = tokio::task::spawn_blocking(move || {
            ratings.apply(&mut prepared.refresh.products);
            let hash = content_hash(&prepared.refresh);
            (prepared, hash)
        });
        let (prepared, hash) = done.await.map_err(|error| failed("worker", &error))?;
        Ok(RereadCatalogue {
            prepared,
            reading,
            hash,
        })
    }

    /// The reasons to hold back a crawl that found this instead of `before`, which the lake has.
    #[must_use]
    pub fn doubts(
        &self,
        brand: &RegisteredBrand,
        crawl: &StoreCrawl,
        in_lake: &BrandRow,
        before: &CatalogueRows,
        now: &RereadCatalogue,
    ) -> Vec<HoldReason> {
        let offering = Offering {
            titles: before.titles().map(|(id, title)| (id, title.to_owned())).collect(),
            prices: before.prices().collect(),
        };
        let refresh: &BrandRefresh<CatalogueRows> = &now.prepared.refresh;
        let (currency, now_in) = (in_lake.brand.currency, refresh.brand.currency);
        let (_, drift) = compare(&self.config.collapse, &offering, &refresh.products, currency, now_in);
        let found = CrawlFigures {
            // Products of the crawl before that this one missed are no news of its pages.
            last: None,
            ..CrawlFigures::of(&now.prepared, crawl, drift)
        };
        let stated = crawl.facts.published_products;
        let before = LakeFigures {
            products: in_lake.product_count,
            most: in_lake.product_count,
            unlisted: stated.map_or(0, |stated| stated.saturating_sub(crawl.products())),
            currency: Some(in_lake.brand.currency).filter(|_| brand.currency.is_none()),
        };
        found.doubts(&self.config.collapse, before)
    }

    /// The bytes of a landed page, and the time that it takes to understand it; `None` of one that cannot be read.
    #[boxed]
    pub async fn timed(&self, brand: &RegisteredBrand, crawl: &StoreCrawl, page: usize) -> Option<(u64, Duration)> {
        let (file, mark) = crawl.landed().nth(page)?;
        let context = context_of(brand, &crawl.facts, None).ok()?;
        let begun = Instant::now();
        let read = read_page(&self.storage, &crawl.landing, &crawl.store, file, mark, &self.memory).await;
        let body = read.ok()?;
        let bytes = mark.bytes;
        let understood = tokio::task::spawn_blocking(move || {
            let columns = Columns::bounded(u64::MAX, body.len());
            PageRead::into(columns, &body, &context).is_ok()
        });
        understood.await.ok()?.then(|| (bytes, begun.elapsed()))
    }
}

/// The moment at which the content of the pages was observed. A crawl that found nothing new names the pages of an earlier one,
/// of which the lake knows the time.
fn observed_at(crawl: &StoreCrawl, in_lake: Option<&BrandRow>) -> Timestamp {
    match (crawl.verdict, in_lake) {
        (Verdict::Unchanged, Some(row)) => row.refreshed_at.min(crawl.ended_at),
        _ => crawl.ended_at,
    }
}

fn failed(code: &str, error: &dyn std::error::Error) -> RereadError {
    RereadError {
        code: code.to_owned(),
        reason: with_causes(error),
    }
}
