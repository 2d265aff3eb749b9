//! From landed pages to what the lake takes in.

use data_lake::CatalogueRows;
use data_model::{Brand, BrandRefresh, CurrencyCode, RunId};
use data_storage::Storage;
use pipeline_crawl::{LandingError, RegisteredBrand, StoreCrawl, StoreFacts, read_page};
use pipeline_normalise::{CatalogueBuilder, Gathered, PageRead};
use pipeline_parse::ParseError;

use crate::ratings::Ratings;
use crate::reader::{Columns, StoreReader, context_of};

/// Raised whenever parsing or normalising understands the same page otherwise than before: then every catalogue is
/// read again from its landed pages, without asking the stores.
const READING_VERSION: u32 = 2;

/// Why landed pages could not be made a catalogue.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PrepareError {
    /// Nobody says what the prices are in.
    #[error("neither the store nor the registry says which currency its prices are in")]
    CurrencyUnknown,
    /// A landed page could not be read.
    #[error(transparent)]
    Landing(#[from] LandingError),
    /// A landed page is no page of products.
    #[error("{file} is no page of products")]
    Page {
        /// Which.
        file: String,
        /// Why.
        #[source]
        source: ParseError,
    },
    /// The pages list more variants than one store may have.
    #[error("it lists more than {limit} variants")]
    TooMany {
        /// How many are taken.
        limit: usize,
    },
    /// A task of this program broke off.
    #[error("a worker broke off")]
    Worker(#[from] tokio::task::JoinError),
}

impl PrepareError {
    pub(crate) const fn label(&self) -> &'static str {
        match self {
            Self::CurrencyUnknown => "currency_unknown",
            Self::Landing(_) => "landing",
            Self::Page { .. } => "not_a_catalogue",
            Self::TooMany { .. } => "too_many_variants",
            Self::Worker(_) => "worker",
        }
    }
}

/// All that decides what is made of a brand's pages, besides the pages.
pub(crate) fn reading_of(brand: &RegisteredBrand, ratings: &Ratings) -> String {
    let pinned = brand.name_pinned.then_some(brand.name.as_str());
    format!(
        "{READING_VERSION} {} {} {} {} {:?} {:?} {pinned:?}",
        ratings.version,
        brand.slug,
        brand.domain,
        brand.base_url_text(),
        brand.currency.map(CurrencyCode::as_str),
        brand.country,
    )
}

/// The brand as its store presents itself now, with what the operator knows better.
pub(crate) fn brand_now(registered: &RegisteredBrand, facts: &StoreFacts, currency: CurrencyCode) -> Brand {
    let own_name = facts.name.clone().filter(|_| !registered.name_pinned);
    Brand {
        store: registered.store.clone(),
        slug: registered.slug.clone(),
        name: own_name.unwrap_or_else(|| registered.name.clone()),
        domain: registered.domain.clone(),
        base_url: registered.base_url_text().to_owned(),
        currency,
        country: facts.country.clone().or_else(|| registered.country.clone()),
        logo: None,
        description: facts.description.clone(),
    }
}

fn bounded(builder: &CatalogueBuilder<Columns>, limit: usize) -> Result<(), PrepareError> {
    if builder.variants() > limit {
        return Err(PrepareError::TooMany { limit });
    }
    Ok(())
}

/// Puts the pages of a crawl together: those that `reader` has read already, and the others from the landing, one at a
/// time.
pub(crate) async fn prepare(
    storage: &Storage,
    run: &RunId,
    registered: &RegisteredBrand,
    crawl: &StoreCrawl,
    currency_before: Option<CurrencyCode>,
    reader: Option<&StoreReader>,
    variants_max: usize,
) -> Result<BrandRefresh<CatalogueRows>, PrepareError> {
    let context = context_of(registered, &crawl.facts, currency_before).ok_or(PrepareError::CurrencyUnknown)?;
    let brand = brand_now(registered, &crawl.facts, context.currency);
    let mut builder = CatalogueBuilder::new(context.clone());
    for (file, mark) in crawl.landed() {
        if let Some(page) = reader.and_then(|reader| reader.take(&mark.sha256, &context)) {
            builder.add(page);
            bounded(&builder, variants_max)?;
            continue;
        }
        let page = read_page(storage, &crawl.landing, &crawl.store, file, mark).await?;
        let understood = context.clone();
        let read = tokio::task::spawn_blocking(move || PageRead::of(&page, &understood));
        builder.add(read.await?.map_err(|source| PrepareError::Page {
            file: file.to_owned(),
            source,
        })?);
        bounded(&builder, variants_max)?;
    }
    let Gathered {
        pages,
        order,
        quarantined,
    } = builder.gathered();
    let pages = pages.into_iter().map(|Columns(page)| page).collect();
    Ok(BrandRefresh {
        brand,
        run: run.clone(),
        observed_at: crawl.ended_at,
        products: CatalogueRows::new(pages, order),
        shipping: None,
        quarantined,
    })
}
