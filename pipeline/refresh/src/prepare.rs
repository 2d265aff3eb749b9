//! From landed pages to what the lake takes in.

use std::collections::BTreeSet;

use data_lake::{CatalogueRows, LakeError, LakeSnapshot, ProductColumns, RowPlace};
use data_model::{Brand, BrandRefresh, CurrencyCode, Quarantined, RunId, StoreHost};
use data_storage::Storage;
use futures::TryStreamExt;
use pipeline_crawl::{LandingError, OVER_MEMORY, PageMark, RegisteredBrand, StoreCrawl, StoreFacts, read_page};
use pipeline_normalise::{CatalogueBuilder, Gathered, PagePlace, PageRead, StoreContext};
use pipeline_parse::ParseError;
use storefront::{MemoryBudget, OverBudget, Reservation};
use tokio::sync::Semaphore;

use crate::ratings::Ratings;
use crate::reader::{Columns, CurrencyFault, KeptPage, context_of, page_memory};

/// Raised whenever parsing or normalising understands the same page otherwise than before: then every catalogue is
/// read again from its landed pages, without asking the stores.
const READING_VERSION: u32 = 9;

/// The reason why landed pages do not make a catalogue.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PrepareError {
    /// It is not known what the prices are in.
    #[error(transparent)]
    Currency(#[from] CurrencyFault),
    /// The lake's products of records that cannot be understood could not be read.
    #[error("the products that the lake has cannot be read")]
    Lake(#[from] LakeError),
    /// A landed page could not be read.
    #[error(transparent)]
    Landing(#[from] LandingError),
    /// A landed page is no page of products.
    #[error("{file} is no page of products")]
    Page {
        /// The page's file.
        file: String,
        /// The parser's error.
        #[source]
        source: ParseError,
    },
    /// The pages list more variants than one store may have.
    #[error("it lists more than {limit} variants")]
    TooMany {
        /// Most variants that are taken.
        limit: usize,
    },
    /// Its products take more memory than there is for those of one store.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// A task of this program broke off.
    #[error("a worker broke off")]
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
            Self::Worker(_) => "worker",
        }
    }
}

/// All that decides what is made of a brand's pages, besides the pages.
pub(crate) fn reading_of(brand: &RegisteredBrand, ratings: &Ratings, crawl_country: Option<&str>) -> String {
    let pinned = brand.name_pinned.then_some(brand.name.as_str());
    // Without a country it reads as it did before there was one: nothing has to be read again.
    let prices_of = crawl_country.map_or_else(String::new, |country| format!(" in {country}"));
    format!(
        "{READING_VERSION} {} {} {} {} {:?} {:?} {pinned:?}{prices_of}",
        ratings.version,
        brand.slug,
        brand.domain,
        brand.base_url_text(),
        brand.currency.map(CurrencyCode::as_str),
        brand.country,
    )
}

/// The brand as its store presents itself now, with what the operator knows better, and the country that its prices were
/// asked for.
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

/// A crawl's pages, put together.
#[derive(Debug)]
pub(crate) struct PreparedCrawl {
    pub(crate) refresh: BrandRefresh<CatalogueRows>,
    /// The memory of its products.
    pub(crate) memory: Option<Reservation>,
    /// The number of its products that the pages have; the others are kept as the lake has them.
    pub(crate) understood: u64,
    /// Records that make no product.
    pub(crate) unreadable: u64,
    /// Products of these that the lake has.
    pub(crate) kept: u64,
    /// And of these the ones that the lake does not know to be unreadable yet.
    pub(crate) newly_kept: u64,
}

/// Products that the store lists, though it cannot be understood what it says of them: what the lake has of them is
/// the last that is known.
#[derive(Debug, Default)]
struct KeptProducts {
    products: ProductColumns,
    new: u64,
}

/// Of the records in quarantine those of which there is no product among these `ids` (ascending): how many there are,
/// and their own ids.
fn unreadable(quarantined: &[Quarantined], ids: &[u64]) -> (u64, BTreeSet<u64>) {
    let id = |entry: &Quarantined| entry.subject.parse::<u64>().ok();
    // A product of which a variant was left out is one.
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
        // Amounts in another currency than the brand's would be another's.
        if ids.contains(&id) && product.currency == context.currency {
            kept.new += u64::from(!known.contains(&id));
            kept.products.push(product);
        }
    }
    Ok(kept)
}

/// The source of a crawl's pages.
#[derive(Debug)]
pub(crate) enum PageSource {
    /// The pages as they were read while the store was crawled; where these are not all, the landing, in the store's turn.
    Crawl(Option<Vec<KeptPage>>),
    /// The landing, of a catalogue that was put together before: the memory that it took is reserved still.
    Landing,
}

/// The way in which the pages of a crawl are read.
#[derive(Debug)]
pub(crate) struct ReadContext<'a> {
    pub(crate) source: PageSource,
    pub(crate) memory: &'a MemoryBudget,
    /// One permit a catalogue that is put together.
    pub(crate) workers: &'a Semaphore,
    pub(crate) variants_max: usize,
    /// The country whose prices the stores are asked for, if any.
    pub(crate) crawl_country: Option<&'a str>,
}

/// The pages of a crawl in columns, and the memory that they take.
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

/// The pages of a crawl: those that were read already if these are all, else all of them from the landing, one at a
/// time. A store whose pages did not all fit lets go of what it has and waits for its turn, so that two stores never wait
/// for each other's memory.
async fn pages(
    storage: &Storage,
    crawl: &StoreCrawl,
    context: &StoreContext,
    reading: ReadContext<'_>,
) -> Result<Pages, PrepareError> {
    let limit = reading.variants_max;
    let mut pages = Pages {
        builder: CatalogueBuilder::new(context.clone()),
        memory: None,
    };
    let is_reserved = matches!(reading.source, PageSource::Landing);
    let read: Option<Vec<_>> = match reading.source {
        PageSource::Crawl(Some(kept)) => kept.into_iter().map(|page| page.taken(context)).collect(),
        PageSource::Crawl(None) | PageSource::Landing => None,
    };
    if let Some(read) = read {
        // Never closed, so the permit is always given.
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
    let read = |bytes_max, (file, mark)| read_landed(storage, crawl, file, mark, context, bytes_max, reading.memory);
    for landed in crawl.landed() {
        if is_reserved {
            let page = read(u64::MAX, landed).await?;
            pages.add(page, None, limit)?;
            continue;
        }
        let bounds = reading.memory.rows_bounds(landed.1.bytes, pages.memory.as_ref());
        let mut fitting = None;
        for bytes_max in bounds.into_iter().skip(usize::from(bounds[0] == bounds[1])) {
            // Before the page is read: who waits holds nothing that is not reserved.
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

/// A page of a crawl, read from the landing into columns of so many bytes at most.
async fn read_landed(
    storage: &Storage,
    crawl: &StoreCrawl,
    file: &str,
    mark: &PageMark,
    context: &StoreContext,
    bytes_max: u64,
    memory: &MemoryBudget,
) -> Result<PageRead<Columns>, PrepareError> {
    let body = read_page(storage, &crawl.landing, &crawl.store, file, mark, memory).await?;
    let context = context.clone();
    let read =
        tokio::task::spawn_blocking(move || PageRead::into(Columns::bounded(bytes_max, body.len()), &body, &context));
    read.await?.map_err(|source| PrepareError::Page {
        file: file.to_owned(),
        source,
    })
}

/// Puts the pages of a crawl together.
pub(crate) async fn prepare(
    storage: &Storage,
    run: &RunId,
    registered: &RegisteredBrand,
    crawl: &StoreCrawl,
    lake: &LakeSnapshot,
    currency_before: Option<CurrencyCode>,
    reading: ReadContext<'_>,
) -> Result<PreparedCrawl, PrepareError> {
    let context = context_of(registered, &crawl.facts, currency_before)?;
    let brand = brand_now(registered, &crawl.facts, context.currency, reading.crawl_country);
    let Pages { builder, memory } = pages(storage, crawl, &context, reading).await?;
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
