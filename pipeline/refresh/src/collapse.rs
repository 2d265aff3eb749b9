//! Holds back a catalogue that changed almost completely until a second crawl or the operator confirms it. A store that
//! is partly down, misconfigured or hostile must not empty its brand, whether in one crawl or in small steps, or
//! replace its products, titles or prices. A second crawl confirms a change if it would add and remove nearly the same
//! products. It does not confirm a change if the same fault could occur
//! twice: the catalogue is empty although the store does not report zero products, many records could not be parsed, or
//! prices fell to almost nothing. `held/{store}.json` has the crawl that is held back.

mod compare;
mod doubt;
mod loss;
mod sample;

use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, CurrencyCode, RunId, StoreHost, Timestamp};
use data_storage::{Storage, StorageError, delete};
use object_store::path::Path;
use pipeline_crawl::{RegisteredBrand, list_objects, load_document, save_readable};
use serde::{Deserialize, Serialize};

pub use compare::{Changes, Example};
pub(crate) use compare::{Comparison, Drift, compare};
pub use doubt::{Affected, HoldReason};
pub(crate) use doubt::{CrawlFigures, DoubtedCrawl, LakeFigures, is_confirmed};
pub(crate) use loss::{most, noted, window_began};
pub(crate) use sample::ChangedSample;

/// Crawl that is held back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldCrawl {
    /// Crawled store.
    pub store: StoreHost,
    /// Slug of the brand.
    pub slug: BrandSlug,
    /// Run that crawled the store.
    pub run: RunId,
    /// Time at which the crawl was held back.
    pub held_at: Timestamp,
    /// Number of the brand's products in the lake.
    pub products_before: u64,
    /// Number of products in the crawl.
    pub products_found: u64,
    /// Number of records that could not be parsed and have no product in the crawl.
    pub quarantined: u64,
    /// Main reason for holding the crawl back.
    #[serde(default)]
    pub doubt: Option<HoldReason>,
    /// All reasons, with the main one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<HoldReason>,
    /// Number of products that the store reports.
    #[serde(default)]
    pub stated: Option<u64>,
    /// Currency of the crawl's prices.
    #[serde(default)]
    pub currency: Option<CurrencyCode>,
    /// True if the operator confirmed the crawl.
    #[serde(default)]
    pub confirmed: bool,
    /// Products that the crawl would add or remove.
    #[serde(default)]
    pub(crate) changed: ChangedSample,
}

impl HeldCrawl {
    /// Creates the record and logs a warning for the operator.
    pub(crate) fn new(brand: &RegisteredBrand, run: &RunId, held_at: Timestamp, doubted: DoubtedCrawl<'_>) -> Self {
        let DoubtedCrawl {
            before,
            found,
            doubts,
            changed,
        } = doubted;
        let doubt = doubts.first().copied();
        let affected = doubt.and_then(|doubt| found.affected(doubt, before));
        tracing::warn!(
            brand.slug = %brand.slug,
            doubt = doubt.map(HoldReason::as_str),
            affected = affected.map(|affected| affected.count),
            affected_of = affected.map(|affected| affected.of),
            products_before = before.products,
            products_found = found.products,
            products_stated = found.stated,
            products_unreadable = found.unreadable,
            currency_before = before.currency.map(CurrencyCode::as_str),
            currency_found = found.currency.as_str(),
            "a crawl is held back"
        );
        Self {
            store: brand.store.clone(),
            slug: brand.slug.clone(),
            run: run.clone(),
            held_at,
            products_before: before.products,
            products_found: found.products,
            quarantined: found.unreadable,
            doubt,
            doubts: doubts.to_vec(),
            stated: found.stated,
            currency: Some(found.currency),
            confirmed: false,
            changed: changed.clone(),
        }
    }
}

/// Error of reading or changing the held-back crawls.
#[derive(Debug, thiserror::Error)]
pub enum HeldError {
    /// The storage failed.
    #[error("held crawls cannot be read or written")]
    Storage(#[from] StorageError),
    /// No crawl of the brand is held back.
    #[error("no crawl of {0} is held back")]
    Nothing(BrandSlug),
}

pub(crate) fn held_at(store: &StoreHost) -> Path {
    Path::from_iter(["held", &format!("{store}.json")])
}

/// An unreadable record counts as missing, so that the next crawl is held back again.
pub(crate) async fn load_held(storage: &Storage, store: &StoreHost) -> Result<Option<HeldCrawl>, HeldError> {
    let held: Option<HeldCrawl> = load_document(storage, &held_at(store)).await?;
    Ok(held.filter(|held| held.store == *store))
}

pub(crate) async fn save_held(storage: &Storage, held: &HeldCrawl) -> Result<(), HeldError> {
    Ok(save_readable(storage, &held_at(&held.store), held).await?)
}

pub(crate) async fn drop_held(storage: &Storage, store: &StoreHost) -> Result<(), HeldError> {
    Ok(delete(storage, &held_at(store)).await?)
}

/// Returns all held-back crawls, by slug.
///
/// # Errors
/// [`HeldError`] if the storage fails.
#[boxed]
pub async fn held_back(storage: &Storage) -> Result<Vec<HeldCrawl>, HeldError> {
    let mut all: Vec<HeldCrawl> = Vec::new();
    for path in list_objects(storage, &Path::from("held")).await? {
        all.extend(load_document::<HeldCrawl>(storage, &path).await?);
    }
    all.sort_unstable_by(|one, other| one.slug.cmp(&other.slug));
    Ok(all)
}

/// Confirms the held-back crawl of this brand. The next run accepts a crawl with about the same results.
///
/// # Errors
/// [`HeldError::Nothing`] if no crawl is held back. See [`HeldError`].
#[boxed]
pub async fn confirm(storage: &Storage, slug: &BrandSlug) -> Result<HeldCrawl, HeldError> {
    let held = held_back(storage).await?.into_iter().find(|held| held.slug == *slug);
    let held = held.ok_or_else(|| HeldError::Nothing(slug.clone()))?;
    let held = HeldCrawl {
        confirmed: true,
        ..held
    };
    save_held(storage, &held).await?;
    Ok(held)
}

#[cfg(test)]
mod tests;
