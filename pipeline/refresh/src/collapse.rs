//! A catalogue that became quite another one is not believed until a second crawl or the operator confirms it: a store
//! that is half down, misconfigured or hostile must not empty its brand, nor replace it, nor change what its prices are
//! in. A second crawl confirms nothing where the same fault would show twice: when the catalogue is empty though the
//! store does not say that it has nothing, or when many of its records could not be understood. `held/{store}.json`
//! remembers what is held back.

use data_model::{BrandSlug, CurrencyCode, RunId, StoreHost, Timestamp};
use data_storage::{Storage, StorageError, get_bytes, put_over};
use futures::TryStreamExt;
use object_store::ObjectStoreExt;
use object_store::path::Path;
use pipeline_crawl::{LastListed, RegisteredBrand, StoreCrawl};
use serde::{Deserialize, Serialize};

use crate::CollapseConfig;
use crate::prepare::Prepared;

/// Counts this small differ by chance.
const DIFFERENCE_IGNORED: u64 = 5;
/// Of so many products that cannot be read any more one is a few percent.
const UNREADABLE_SHARE: u64 = 20;
/// A brand of so many products at least is replaced when fewer than one of [`REPLACED_SHARE`] are still listed.
const REPLACED_MIN: u64 = 10;
const REPLACED_SHARE: u64 = 5;

/// A crawl that is not believed yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Whose crawl.
    pub store: StoreHost,
    /// The brand.
    pub slug: BrandSlug,
    /// The run that found it.
    pub run: RunId,
    /// When.
    pub held_at: Timestamp,
    /// Products that the brand has in the lake.
    pub products_before: u64,
    /// Products that the crawl found.
    pub products_found: u64,
    /// Records among the rest that could not be understood, and of which the crawl found no product.
    pub quarantined: u64,
    /// Why, in one word.
    #[serde(default)]
    pub doubt: Option<Doubt>,
    /// How many products the store said that it has.
    #[serde(default)]
    pub stated: Option<u64>,
    /// What its prices were in.
    #[serde(default)]
    pub currency: Option<CurrencyCode>,
    /// Whether the operator says that this is right.
    #[serde(default)]
    pub confirmed: bool,
}

impl Held {
    /// A note of what was found and is not believed, told to the operator too.
    pub(crate) fn new(
        brand: &RegisteredBrand,
        (run, held_at): (&RunId, Timestamp),
        (before, found, doubt): (Before, Found, Doubt),
    ) -> Self {
        tracing::warn!(
            brand.slug = %brand.slug,
            doubt = doubt.as_str(),
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
            doubt: Some(doubt),
            stated: found.stated,
            currency: Some(found.currency),
            confirmed: false,
        }
    }
}

/// Why a crawl is not believed at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// It found nothing.
    Emptied,
    /// It found far fewer products.
    Shrank,
    /// It found fewer without having come to the catalogue's end.
    Cut,
    /// More than a few products that the brand has are listed in a way that cannot be understood.
    Unreadable,
    /// Hardly a product that the last crawl listed is listed still.
    Replaced,
    /// Its prices are in another currency.
    Currency,
}

impl Doubt {
    /// It in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Emptied => "emptied",
            Self::Shrank => "shrank",
            Self::Cut => "cut",
            Self::Unreadable => "unreadable",
            Self::Replaced => "replaced",
            Self::Currency => "currency",
        }
    }
}

/// Why what is held back could not be told or changed.
#[derive(Debug, thiserror::Error)]
pub enum HeldError {
    /// The storage failed.
    #[error("what is held back cannot be read or written")]
    Storage(#[from] StorageError),
    /// The storage could not list or delete.
    #[error("what is held back cannot be listed or deleted")]
    Prefix(#[source] object_store::Error),
    /// The document does not serialise.
    #[error("what is held back does not serialise")]
    Json(#[source] serde_json::Error),
    /// Nothing of this brand is held back.
    #[error("nothing of {0} is held back")]
    Nothing(BrandSlug),
}

/// What the lake has of a brand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Before {
    /// Products.
    pub(crate) products: u64,
    /// What their prices are in; `None` of a brand that it does not have, and of one whose currency the operator tells.
    pub(crate) currency: Option<CurrencyCode>,
}

/// What a crawl found of a brand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    /// Products.
    pub(crate) products: u64,
    /// Records that make no product.
    pub(crate) unreadable: u64,
    /// Products of the brand among these.
    pub(crate) kept: u64,
    /// Of these the ones of which that is new.
    pub(crate) newly_kept: u64,
    /// What the prices are in.
    pub(crate) currency: CurrencyCode,
    /// What became of the products of the last crawl.
    pub(crate) last: Option<LastListed>,
    /// How many products the store says it has.
    pub(crate) stated: Option<u64>,
    /// Whether the crawl ended before the store's catalogue did.
    pub(crate) truncated: bool,
}

impl Found {
    pub(crate) fn of(prepared: &Prepared, crawl: &StoreCrawl) -> Self {
        Self {
            products: prepared.understood,
            unreadable: prepared.unreadable,
            kept: prepared.kept,
            newly_kept: prepared.newly_kept,
            currency: prepared.refresh.brand.currency,
            last: crawl.last,
            stated: crawl.facts.published_products,
            truncated: crawl.truncated,
        }
    }

    /// Why not to believe at once that a brand has become this.
    pub(crate) fn doubt(&self, config: &CollapseConfig, before: Before) -> Option<Doubt> {
        let Before { products, currency } = before;
        // What could not be read before either is no news.
        let known = self.products + self.kept.saturating_sub(self.newly_kept);
        let missing = products.saturating_sub(known);
        // Shares of counts need no more precision than a float has.
        let few = (known as f64) < products as f64 * config.share_min;
        let lists_few = |last: LastListed| {
            let still = last.products.saturating_sub(last.gone);
            last.products >= REPLACED_MIN && still.saturating_mul(REPLACED_SHARE) < last.products
        };
        let doubts = [
            (known == 0 && products > 0, Doubt::Emptied),
            (few && missing >= config.drop_min, Doubt::Shrank),
            (
                self.newly_kept > DIFFERENCE_IGNORED && self.newly_kept.saturating_mul(UNREADABLE_SHARE) > products,
                Doubt::Unreadable,
            ),
            (products > 0 && self.last.is_some_and(lists_few), Doubt::Replaced),
            (
                products > 0 && currency.is_some_and(|before| before != self.currency),
                Doubt::Currency,
            ),
            // What a crawl that did not come to the end lacks may be behind that end, however little it is.
            (self.truncated && missing > self.newly_kept, Doubt::Cut),
        ];
        doubts.into_iter().find_map(|(holds, doubt)| holds.then_some(doubt))
    }

    /// Whether a second crawl that finds the same says anything about a brand that had `before` products: what makes
    /// products disappear here may well be a fault, and faults come twice.
    fn is_confirmed_by_repetition(self, before: u64) -> bool {
        if self.products == 0 {
            return self.stated == Some(0);
        }
        let missing = before.saturating_sub(self.products);
        let records = self.products.saturating_add(self.unreadable);
        let explains_half = self.unreadable > 0 && self.unreadable.saturating_mul(2) >= missing;
        !explains_half && self.unreadable.saturating_mul(10) <= records
    }
}

/// Whether what was found is what was held back, and that is confirmed by now: by the operator, or by another run, where
/// finding the same again says anything.
pub(crate) fn is_confirmed(
    config: &CollapseConfig,
    (before, found, doubt): (Before, Found, Doubt),
    run: &RunId,
    held: &Held,
) -> bool {
    let products = found.products;
    let difference = held.products_found.abs_diff(products);
    let tolerated = held.products_found.max(products) as f64 * config.tolerance;
    // Few products are not about the same as none, nor are amounts in one currency like those in another.
    let both_empty = (held.products_found == 0) == (products == 0);
    let same_money = held.currency.is_none_or(|currency| currency == found.currency);
    let alike = both_empty && same_money && (difference <= DIFFERENCE_IGNORED || difference as f64 <= tolerated);
    // What was held back for another reason may have been of the same size.
    let same_doubt = match doubt {
        Doubt::Replaced | Doubt::Currency | Doubt::Unreadable => held.doubt == Some(doubt),
        Doubt::Emptied | Doubt::Shrank | Doubt::Cut => true,
    };
    let held_found = Found {
        products: held.products_found,
        unreadable: held.quarantined,
        ..found
    };
    let repeated = held.run != *run
        && doubt != Doubt::Unreadable
        && found.is_confirmed_by_repetition(before.products)
        && held_found.is_confirmed_by_repetition(before.products);
    alike && same_doubt && (held.confirmed || repeated)
}

/// Where it lies that a crawl of the store is held back.
pub(crate) fn held_at(store: &StoreHost) -> Path {
    Path::from_iter(["held", &format!("{store}.json")])
}

/// What is held back of this store; an unreadable note is none, so that its crawl is held back anew.
pub(crate) async fn load_held(storage: &Storage, store: &StoreHost) -> Result<Option<Held>, HeldError> {
    let json = get_bytes(storage, &held_at(store)).await?;
    let held: Option<Held> = json.and_then(|json| serde_json::from_slice(&json).ok());
    Ok(held.filter(|held| held.store == *store))
}

pub(crate) async fn save_held(storage: &Storage, held: &Held) -> Result<(), HeldError> {
    let json = serde_json::to_vec_pretty(held).map_err(HeldError::Json)?;
    Ok(put_over(storage, &held_at(&held.store), json).await?)
}

pub(crate) async fn drop_held(storage: &Storage, store: &StoreHost) -> Result<(), HeldError> {
    match storage.store().delete(&held_at(store)).await {
        Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
        Err(source) => Err(HeldError::Prefix(source)),
    }
}

/// All crawls that are held back, by slug.
///
/// # Errors
/// [`HeldError`] if the storage fails.
pub async fn held_back(storage: &Storage) -> Result<Vec<Held>, HeldError> {
    let prefix = Path::from("held");
    let found: Vec<_> = storage
        .store()
        .list(Some(&prefix))
        .try_collect()
        .await
        .map_err(HeldError::Prefix)?;
    let mut all = Vec::with_capacity(found.len());
    for meta in found {
        let json = get_bytes(storage, &meta.location).await?;
        all.extend(json.and_then(|json| serde_json::from_slice::<Held>(&json).ok()));
    }
    all.sort_unstable_by(|one, other| one.slug.cmp(&other.slug));
    Ok(all)
}

/// Says that what is held back of this brand is right: the next run believes it if it finds about the same.
///
/// # Errors
/// [`HeldError::Nothing`] if nothing is held back; see [`HeldError`].
pub async fn confirm(storage: &Storage, slug: &BrandSlug) -> Result<Held, HeldError> {
    let held = held_back(storage).await?.into_iter().find(|held| held.slug == *slug);
    let held = held.ok_or_else(|| HeldError::Nothing(slug.clone()))?;
    let held = Held {
        confirmed: true,
        ..held
    };
    save_held(storage, &held).await?;
    Ok(held)
}

#[cfg(test)]
mod tests;
