//! Rereads a landed crawl without querying the store, for backfills.

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
use crate::prepare::{NOTES, PageSource, PreparedCrawl, ProductNotes, ReadContext, prepare, reading_of};
use crate::reader::{Columns, context_of};
use crate::{HoldReason, RefreshConfig};

/// Error of rereading landed pages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct RereadError {
    /// One-word error code from a fixed set, as for a failed crawl.
    pub code: String,
    /// Error message and its causes.
    pub reason: String,
}

/// Rereads landed crawls of stores.
#[derive(Debug)]
pub struct Rereader {
    storage: Storage,
    snapshot: LakeSnapshot,
    config: RefreshConfig,
    names: DisplayNames,
    country: Option<String>,
    memory: MemoryBudget,
    /// Limits nothing, because the caller decides how many stores are read at once.
    workers: Semaphore,
}

/// Landed catalogue of a store as this program version parses it.
#[derive(Debug)]
pub struct RereadCatalogue {
    prepared: PreparedCrawl,
    reading: String,
    hash: String,
}

impl RereadCatalogue {
    /// Returns the products.
    #[must_use]
    pub fn rows(&self) -> &CatalogueRows {
        &self.prepared.refresh.products
    }

    /// Returns the currency of the prices.
    #[must_use]
    pub fn currency(&self) -> CurrencyCode {
        self.prepared.refresh.brand.currency
    }

    /// Returns the [`HashedRefresh::hash`] that the lake would store.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Returns the fingerprint of the reading for the crawl's state.
    #[must_use]
    pub fn reading(&self) -> &str {
        &self.reading
    }

    /// Converts this catalogue for a commit to the lake.
    ///
    /// # Errors
    /// The errors of [`HashedRefresh::of_rows`].
    pub fn into_refresh(self) -> Result<HashedRefresh, LakeError> {
        HashedRefresh::of_rows(self.prepared.refresh)
    }
}

impl Rereader {
    /// Creates a reader that works like a crawl with this configuration. Prices of `country` were requested. Products
    /// with records that cannot be parsed stay as in `snapshot`.
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

    /// Builds the catalogue of a landed crawl. `in_lake` is the brand's row in the lake.
    ///
    /// # Errors
    /// A page is missing, damaged or not a product page, or the currency of the prices is unknown.
    #[boxed]
    pub async fn read(
        &self,
        brand: &RegisteredBrand,
        crawl: &StoreCrawl,
        in_lake: Option<&BrandRow>,
    ) -> Result<RereadCatalogue, RereadError> {
        let notes = ProductNotes::load(&self.storage, &brand.store).await;
        let mut notes = notes.map_err(|error| failed(NOTES, &error))?;
        let reading = ReadContext {
            source: PageSource::Landing,
            memory: &self.memory,
            workers: &self.workers,
            variants_max: self.config.variants_max,
            crawl_country: self.country.as_deref(),
            categories: &mut notes.categories,
            omitted: &mut notes.omitted,
            asking: None,
        };
        let (landing, currency_before) = (&crawl.landing, in_lake.map(|row| row.brand.currency));
        let (storage, lake) = (&self.storage, &self.snapshot);
        let prepared = prepare(storage, landing, brand, crawl, lake, currency_before, reading).await;
        let mut prepared = prepared.map_err(|error| RereadError {
            code: error.label().to_owned(),
            reason: with_causes(&error),
        })?;
        let reading = reading_of(brand, &notes, self.country.as_deref());
        let refresh = &mut prepared.refresh;
        refresh.brand.name = self.names.shown(brand, &refresh.brand.name).into_owned();
        refresh.observed_at = observed_at(crawl, in_lake);
        refresh.read_since = refresh.read_since.min(refresh.observed_at);
        let done = tokio::task::spawn_blocking(move || {
            notes.ratings.apply(&mut prepared.refresh.products);
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

    /// Returns the reasons to hold back a crawl with this catalogue while the lake has `before`.
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
        let drift = compare(&self.config.collapse, &offering, &refresh.products, currency, now_in).drift;
        let found = CrawlFigures {
            // Products that disappeared since the previous crawl are not caused by the new parsing.
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

    /// Returns the bytes of a landed page and the time to parse it. `None` if the page cannot be read.
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
            PageRead::into(columns, &body, &context, |_| None).is_ok()
        });
        understood.await.ok()?.then(|| (bytes, begun.elapsed()))
    }
}

/// A crawl without changes refers to the pages of an earlier crawl, whose time is in the lake.
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
