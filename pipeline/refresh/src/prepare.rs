//! Builds the catalogue for the lake from landed pages.

use std::collections::BTreeSet;
use std::sync::Arc;

use data_lake::{CatalogueRows, LakeError, LakeSnapshot, ProductColumns, RowPlace};
use data_model::{Brand, BrandRefresh, CurrencyCode, Quarantined, RunId, StoreHost};
use data_storage::{Storage, StorageError};
use futures::TryStreamExt;
use pipeline_crawl::{LandingError, OVER_MEMORY, PageMark, RegisteredBrand, StoreCrawl, StoreFacts, read_page};
use pipeline_normalise::{CatalogueBuilder, Gathered, PagePlace, PageRead, StoreContext};
use pipeline_parse::ParseError;
use storefront::{MemoryBudget, OverBudget, Reservation};
use tokio::sync::Semaphore;

use crate::categories::{AskContext, OwnCategories, ProductVersion};
use crate::omitted::OmittedVariants;
use crate::ratings::Ratings;
use crate::reader::{Columns, CurrencyFault, KeptPage, context_of, page_memory};

/// Version of parsing and normalising. The version is increased when the same page is interpreted differently. All
/// catalogues are then rebuilt from landed pages without querying the stores.
const READING_VERSION: u32 = 10;

#[derive(Debug, thiserror::Error)]
pub(crate) enum PrepareError {
    #[error(transparent)]
    Currency(#[from] CurrencyFault),
    /// The lake could not be read for the existing products of records that failed to parse.
    #[error("the store's products in the lake cannot be read")]
    Lake(#[from] LakeError),
    #[error(transparent)]
    Landing(#[from] LandingError),
    /// A landed page is not a product page.
    #[error("{file} is not a page of products")]
    Page {
        file: String,
        #[source]
        source: ParseError,
    },
    /// The pages list more variants than one store may have.
    #[error("it lists more than {limit} variants")]
    TooMany {
        /// Maximum number of variants.
        limit: usize,
    },
    /// The products need more memory than is available for one store.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// Data that the store states beside its pages cannot be saved.
    #[error("saved data about products cannot be read or written")]
    Notes(#[from] StorageError),
    #[error("a background task failed")]
    Worker(#[from] tokio::task::JoinError),
}

impl PrepareError {
    pub(crate) const fn label(&self) -> &'static str {
        match self {
            Self::Currency(CurrencyFault::Unknown) => "currency_unknown",
            Self::Currency(CurrencyFault::Contradicted { .. }) => "currency_contradicted",
            Self::Lake(_) => "lake",
            Self::OverBudget(_) | Self::Landing(LandingError::OverBudget(_)) => OVER_MEMORY,
            Self::Landing(_) => "landing",
            Self::Page {
                source: ParseError::NotUtf8 { .. },
                ..
            } => "not_utf8",
            Self::Page { .. } => "not_a_catalogue",
            Self::TooMany { .. } => "too_many_variants",
            Self::Notes(_) => NOTES,
            Self::Worker(_) => "worker",
        }
    }
}

/// Error code of notes that cannot be loaded or saved.
pub(crate) const NOTES: &str = "notes_state";

/// Saved data about a store's products besides its pages.
#[derive(Debug)]
pub(crate) struct ProductNotes {
    pub(crate) ratings: Ratings,
    pub(crate) categories: OwnCategories,
    pub(crate) omitted: Arc<OmittedVariants>,
}

impl ProductNotes {
    pub(crate) async fn load(storage: &Storage, store: &StoreHost) -> Result<Self, StorageError> {
        Ok(Self {
            ratings: Ratings::load(storage, store).await?,
            categories: OwnCategories::load(storage, store).await?,
            omitted: Arc::new(OmittedVariants::load(storage, store).await?),
        })
    }
}

/// Returns a fingerprint of everything besides the pages that affects the catalogue.
pub(crate) fn reading_of(brand: &RegisteredBrand, notes: &ProductNotes, crawl_country: Option<&str>) -> String {
    let pinned = brand.name_pinned.then_some(brand.name.as_str());
    // Without a country or answers of the store, the fingerprint has its old form, so that nothing has to be read again.
    let prices_of = crawl_country.map_or_else(String::new, |country| format!(" in {country}"));
    let stated = match notes.categories.version {
        0 => String::new(),
        version => format!(" categories {version}"),
    };
    let omitted = match notes.omitted.version {
        0 => String::new(),
        version => format!(" variants {version}"),
    };
    format!(
        "{READING_VERSION} {} {} {} {} {:?} {:?} {pinned:?}{prices_of}{stated}{omitted}",
        notes.ratings.version,
        brand.slug,
        brand.domain,
        brand.base_url_text(),
        brand.currency.map(CurrencyCode::as_str),
        brand.country,
    )
}

/// Returns the brand as its store presents itself now, with the operator's overrides and the country whose prices were
/// requested.
pub(crate) fn brand_now(
    registered: &RegisteredBrand,
    facts: &StoreFacts,
    currency: CurrencyCode,
    crawl_country: Option<&str>,
) -> Brand {
    let own_name = facts.name.clone().filter(|_| !registered.name_pinned);
    Brand {
        store: registered.store.clone(),
        slug: registered.slug.clone(),
        name: own_name.unwrap_or_else(|| registered.name.clone()),
        domain: registered.domain.clone(),
        base_url: registered.base_url_text().to_owned(),
        currency,
        country: facts.country.clone().or_else(|| registered.country.clone()),
        crawl_country: crawl_country.map(str::to_owned),
        logo: None,
        description: facts.description.clone(),
    }
}

#[derive(Debug)]
pub(crate) struct PreparedCrawl {
    pub(crate) refresh: BrandRefresh<CatalogueRows>,
    /// Memory reserved for the products.
    pub(crate) memory: Option<Reservation>,
    /// Number of products parsed from the pages. The others stay as they are in the lake.
    pub(crate) understood: u64,
    /// Number of records from which no product could be parsed.
    pub(crate) unreadable: u64,
    /// Number of unreadable records with a product in the lake.
    pub(crate) kept: u64,
    /// Number of kept products that were readable in the last crawl.
    pub(crate) newly_kept: u64,
}

/// Products with a record that cannot be parsed. They keep their last known data from the lake.
#[derive(Debug, Default)]
struct KeptProducts {
    products: ProductColumns,
    new: u64,
}

/// Returns the number of quarantined records without a product in the ascending `ids`, and the ids of these records.
fn unreadable(quarantined: &[Quarantined], ids: &[u64]) -> (u64, BTreeSet<u64>) {
    let id = |entry: &Quarantined| entry.subject.parse::<u64>().ok();
    // If only a variant was left out, the product is not lost.
    let is_lost = |entry: &&Quarantined| id(entry).is_none_or(|id| ids.binary_search(&id).is_err());
    let lost: Vec<&Quarantined> = quarantined.iter().filter(is_lost).collect();
    (lost.len() as u64, lost.into_iter().filter_map(id).collect())
}

async fn kept(lake: &LakeSnapshot, context: &StoreContext, ids: &BTreeSet<u64>) -> Result<KeptProducts, LakeError> {
    let mut kept = KeptProducts::default();
    let stores: BTreeSet<StoreHost> = BTreeSet::from([context.store.clone()]);
    let known = lake.quarantined(&stores).await?;
    let known: BTreeSet<u64> = known.iter().filter_map(|entry| entry.subject.parse().ok()).collect();
    let mut products = std::pin::pin!(lake.products(&stores).await?);
    while let Some(product) = products.try_next().await? {
        let id = product.key.platform_id;
        // A product in another currency than the brand's is dropped, because its amounts would be wrong.
        if ids.contains(&id) && product.currency == context.currency {
            kept.new += u64::from(!known.contains(&id));
            kept.products.push(product);
        }
    }
    Ok(kept)
}

#[derive(Debug)]
pub(crate) enum PageSource {
    /// Pages parsed during the crawl. If some are missing, all pages are read from the landing, one store at a time.
    Crawl(Option<Vec<KeptPage>>),
    /// Landing of a catalogue that was built before. Its memory is still reserved.
    Landing,
}

#[derive(Debug)]
pub(crate) struct ReadContext<'a> {
    pub(crate) source: PageSource,
    pub(crate) memory: &'a MemoryBudget,
    /// One permit per catalogue that is being built.
    pub(crate) workers: &'a Semaphore,
    pub(crate) variants_max: usize,
    /// Country whose prices are requested from stores.
    pub(crate) crawl_country: Option<&'a str>,
    /// Categories that the store states.
    pub(crate) categories: &'a mut OwnCategories,
    /// Variants that the pages omit.
    pub(crate) omitted: &'a mut Arc<OmittedVariants>,
    /// Parameters of the requests to the store for further categories and omitted variants. With `None`, only the known
    /// ones are used.
    pub(crate) asking: Option<AskContext<'a>>,
}

/// Pages of a crawl as columns, with their reserved memory.
#[derive(Debug)]
struct Pages {
    builder: CatalogueBuilder<Columns>,
    memory: Option<Reservation>,
}

impl Pages {
    fn add(&mut self, page: PageRead<Columns>, memory: Option<Reservation>, limit: usize) -> Result<(), PrepareError> {
        match (&mut self.memory, memory) {
            (Some(memory), Some(more)) => memory.merge(more),
            (held, more) => *held = held.take().or(more),
        }
        self.builder.add(page);
        if self.builder.variants() > limit {
            return Err(PrepareError::TooMany { limit });
        }
        Ok(())
    }
}

/// Returns the parsed pages if they are complete, otherwise all pages from the landing, one at a time. A store whose
/// pages did not all fit releases its memory and waits for its turn, so that two stores never wait for each other's
/// memory.
async fn pages(
    storage: &Storage,
    crawl: &StoreCrawl,
    context: &StoreContext,
    source: PageSource,
    reading: &ReadContext<'_>,
) -> Result<Pages, PrepareError> {
    let limit = reading.variants_max;
    let mut pages = Pages {
        builder: CatalogueBuilder::new(context.clone()),
        memory: None,
    };
    let is_reserved = matches!(source, PageSource::Landing);
    let read: Option<Vec<_>> = match source {
        PageSource::Crawl(Some(kept)) => kept.into_iter().map(|page| page.taken(context)).collect(),
        PageSource::Crawl(None) | PageSource::Landing => None,
    };
    if let Some(read) = read {
        // The semaphore is never closed, so that the permit is always granted.
        let _worker = reading.workers.acquire().await;
        for (page, memory) in read {
            pages.add(page, Some(memory), limit)?;
        }
        return Ok(pages);
    }
    let _turn = match is_reserved {
        true => None,
        false => reading.memory.rows_turn().await,
    };
    let read = |bytes_max, (file, mark)| read_landed(storage, crawl, file, mark, context, bytes_max, reading);
    for landed in crawl.landed() {
        if is_reserved {
            let page = read(u64::MAX, landed).await?;
            pages.add(page, None, limit)?;
            continue;
        }
        let bounds = reading.memory.rows_bounds(landed.1.bytes, pages.memory.as_ref());
        let mut fitting = None;
        for bytes_max in bounds.into_iter().skip(usize::from(bounds[0] == bounds[1])) {
            // Memory is reserved before the page is read, so that a waiting task holds no unreserved memory.
            let mut memory = reading.memory.rows(bytes_max, pages.memory.as_ref()).await?;
            let page = read(bytes_max, landed).await?;
            let bytes = page_memory(&page);
            if bytes <= bytes_max && !page.products().is_over() {
                memory.shrink(bytes);
                fitting = Some((page, memory));
                break;
            }
        }
        let bytes_max = reading.memory.rows_bytes_max();
        let (page, memory) = fitting.ok_or(OverBudget { bytes_max })?;
        pages.add(page, Some(memory), limit)?;
    }
    Ok(pages)
}

/// Reads a landed page of a crawl into columns of limited size.
async fn read_landed(
    storage: &Storage,
    crawl: &StoreCrawl,
    file: &str,
    mark: &PageMark,
    context: &StoreContext,
    bytes_max: u64,
    reading: &ReadContext<'_>,
) -> Result<PageRead<Columns>, PrepareError> {
    let body = read_page(storage, &crawl.landing, &crawl.store, file, mark, reading.memory).await?;
    let (context, omitted) = (context.clone(), Arc::clone(reading.omitted));
    let read = tokio::task::spawn_blocking(move || {
        let columns = Columns::bounded(bytes_max, body.len());
        PageRead::into(columns, &body, &context, |id| omitted.of(id, context.currency))
    });
    read.await?.map_err(|source| PrepareError::Page {
        file: file.to_owned(),
        source,
    })
}

/// Builds the catalogue from the pages of a crawl.
pub(crate) async fn prepare(
    storage: &Storage,
    run: &RunId,
    registered: &RegisteredBrand,
    crawl: &StoreCrawl,
    lake: &LakeSnapshot,
    currency_before: Option<CurrencyCode>,
    mut reading: ReadContext<'_>,
) -> Result<PreparedCrawl, PrepareError> {
    let context = context_of(registered, &crawl.facts, currency_before)?;
    let brand = brand_now(registered, &crawl.facts, context.currency, reading.crawl_country);
    let source = std::mem::replace(&mut reading.source, PageSource::Landing);
    let mut read = pages(storage, crawl, &context, source, &reading).await?;
    if let Some(asking) = &reading.asking {
        let version = |(id, updated_at)| ProductVersion { id, updated_at };
        let cut: Vec<ProductVersion> = read.builder.cut().map(version).collect();
        let (before, room) = (
            reading.omitted.version,
            reading.variants_max.saturating_sub(read.builder.variants()),
        );
        let omitted = Arc::make_mut(reading.omitted);
        omitted.ask(&cut, context.currency, room, asking).await?;
        if omitted.version != before {
            // The memory of the pages is released before they are parsed again with the variants that they omit.
            drop(read);
            read = pages(storage, crawl, &context, PageSource::Crawl(None), &reading).await?;
        }
        let listed: Vec<ProductVersion> = read.builder.listed().map(version).collect();
        reading.categories.ask(&listed, asking).await?;
    }
    let Pages { mut builder, memory } = read;
    let stated = reading.categories.stated();
    builder.believe_store(|product| stated.get(&product).copied());
    let Gathered {
        pages,
        order,
        ids,
        quarantined,
    } = builder.gathered();
    let place = |PagePlace { page, row }: PagePlace| RowPlace { batch: page, row };
    let mut order: Vec<RowPlace> = order.into_iter().map(place).collect();
    let mut pages: Vec<ProductColumns> = pages.into_iter().map(Columns::into_rows).collect();
    let (unreadable, lost) = unreadable(&quarantined, &ids);
    let (mut kept_len, mut newly_kept) = (0, 0);
    if currency_before.is_some() && !lost.is_empty() {
        let kept = kept(lake, &context, &lost).await?;
        (kept_len, newly_kept) = (kept.products.len() as u64, kept.new);
        let batch = pages.len();
        order.extend((0..kept.products.len()).map(|row| RowPlace { batch, row }));
        pages.push(kept.products);
    }
    let refresh = BrandRefresh {
        brand,
        run: run.clone(),
        read_since: crawl.started_at,
        observed_at: crawl.ended_at,
        products: CatalogueRows::new(pages, order),
        shipping: None,
        quarantined,
    };
    Ok(PreparedCrawl {
        refresh,
        memory,
        understood: ids.len() as u64,
        unreadable,
        kept: kept_len,
        newly_kept,
    })
}
