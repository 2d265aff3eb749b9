//! A catalogue that became almost entirely another one is not believed until a second crawl or the operator confirms it: a
//! store that is half down, misconfigured or hostile must not empty its brand, at once or bit by bit, nor replace its products,
//! titles or prices. A second crawl confirms nothing where the same fault would show twice: when the catalogue is empty though
//! the store does not say that it has nothing, when many of its records could not be understood, or when prices fell to next
//! to nothing. `held/{store}.json` remembers what is held back.

mod compare;
mod doubt;
mod loss;

use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, CurrencyCode, RunId, StoreHost, Timestamp};
use data_storage::{Storage, StorageError};
use object_store::path::Path;
use pipeline_crawl::{RegisteredBrand, delete_object, list_objects, load_document, save_readable};
use serde::{Deserialize, Serialize};

pub use compare::{Changes, Example};
pub(crate) use compare::{Drift, compare};
pub use doubt::{Affected, HoldReason};
pub(crate) use doubt::{CrawlFigures, DoubtedCrawl, LakeFigures, is_confirmed};
pub(crate) use loss::{most, noted, window_began};

/// A crawl that is not believed yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldCrawl {
    /// The store whose crawl it is.
    pub store: StoreHost,
    /// The brand.
    pub slug: BrandSlug,
    /// The run that found it.
    pub run: RunId,
    /// The moment of that.
    pub held_at: Timestamp,
    /// Products that the brand has in the lake.
    pub products_before: u64,
    /// Products that the crawl found.
    pub products_found: u64,
    /// Records among the rest that could not be understood, and of which the crawl found no product.
    pub quarantined: u64,
    /// The reason, in one word.
    #[serde(default)]
    pub doubt: Option<HoldReason>,
    /// All the reasons, that one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<HoldReason>,
    /// Products that the store said that it has.
    #[serde(default)]
    pub stated: Option<u64>,
    /// The currency of its prices.
    #[serde(default)]
    pub currency: Option<CurrencyCode>,
    /// The operator says that this is right.
    #[serde(default)]
    pub confirmed: bool,
}

impl HeldCrawl {
    /// A note of an anomaly that is not believed, for the operator too.
    pub(crate) fn new(
        brand: &RegisteredBrand,
        run: &RunId,
        held_at: Timestamp,
        DoubtedCrawl { before, found, doubts }: DoubtedCrawl<'_>,
    ) -> Self {
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
        }
    }
}

/// The reason why held crawls cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum HeldError {
    /// The storage failed.
    #[error("held crawls cannot be read or written")]
    Storage(#[from] StorageError),
    /// The brand has no data that is held back.
    #[error("nothing of {0} is held back")]
    Nothing(BrandSlug),
}

/// The place of the note that a crawl of the store is held back.
pub(crate) fn held_at(store: &StoreHost) -> Path {
    Path::from_iter(["held", &format!("{store}.json")])
}

/// The crawl of this store that is held back; an unreadable note is none, so that its crawl is held back anew.
pub(crate) async fn load_held(storage: &Storage, store: &StoreHost) -> Result<Option<HeldCrawl>, HeldError> {
    let held: Option<HeldCrawl> = load_document(storage, &held_at(store)).await?;
    Ok(held.filter(|held| held.store == *store))
}

pub(crate) async fn save_held(storage: &Storage, held: &HeldCrawl) -> Result<(), HeldError> {
    Ok(save_readable(storage, &held_at(&held.store), held).await?)
}

pub(crate) async fn drop_held(storage: &Storage, store: &StoreHost) -> Result<(), HeldError> {
    Ok(delete_object(storage, &held_at(store)).await?)
}

/// All crawls that are held back, by slug.
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

/// Says that what is held back of this brand is right: the next run believes it if it finds about the same.
///
/// # Errors
/// [`HeldError::Nothing`] if nothing is held back; see [`HeldError`].
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
