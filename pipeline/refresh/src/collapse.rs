//! A catalogue that shrank too much is not believed until a second crawl or the operator confirms it: a store that
//! is half down, misconfigured or hostile must not empty its brand. A second crawl confirms nothing where the same
//! fault would show twice: when the catalogue is empty though the store does not say that it has nothing, or when many
//! of its records could not be understood. `held/{store}.json` remembers what is held back.

use data_model::{BrandSlug, RunId, StoreHost, Timestamp};
use data_storage::{Storage, StorageError, get_bytes, put_over};
use futures::TryStreamExt;
use object_store::ObjectStoreExt;
use object_store::path::Path;
use serde::{Deserialize, Serialize};

use crate::CollapseConfig;

/// Counts this small differ by chance.
const DIFFERENCE_IGNORED: u64 = 5;

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
    /// Whether the operator says that this is right.
    #[serde(default)]
    pub confirmed: bool,
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

/// What a crawl found of a brand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    /// Products.
    pub(crate) products: u64,
    /// Records that make no product.
    pub(crate) unreadable: u64,
    /// How many products the store says it has.
    pub(crate) stated: Option<u64>,
    /// Whether the crawl ended before the store's catalogue did.
    pub(crate) truncated: bool,
}

impl Found {
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

/// Whether to believe that a brand which had `before` products has what was found now.
pub(crate) fn is_believed(
    config: &CollapseConfig,
    before: u64,
    found: Found,
    run: &RunId,
    held: Option<&Held>,
) -> bool {
    let products = found.products;
    let emptied = products == 0 && before > 0;
    // Shares of counts need no more precision than a float has.
    let shrank =
        (products as f64) < before as f64 * config.share_min && before.saturating_sub(products) >= config.drop_min;
    // What a crawl that did not come to the end lacks may be behind that end, however little it is.
    let cut = found.truncated && products < before;
    if !emptied && !shrank && !cut {
        return true;
    }
    held.is_some_and(|held| {
        let difference = held.products_found.abs_diff(products);
        let tolerated = held.products_found.max(products) as f64 * config.tolerance;
        // Few products are not about the same as none.
        let both_empty = (held.products_found == 0) == (products == 0);
        let alike = both_empty && (difference <= DIFFERENCE_IGNORED || difference as f64 <= tolerated);
        let held_found = Found {
            products: held.products_found,
            unreadable: held.quarantined,
            ..found
        };
        let repeated = held.run != *run
            && found.is_confirmed_by_repetition(before)
            && held_found.is_confirmed_by_repetition(before);
        alike && (held.confirmed || repeated)
    })
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
mod tests {
    use super::*;

    fn held(found: u64, confirmed: bool) -> Held {
        Held {
            store: "tea.example".parse().unwrap(),
            slug: "tea".parse().unwrap(),
            run: "r1".parse().unwrap(),
            held_at: Timestamp::default(),
            products_before: 100,
            products_found: found,
            quarantined: 0,
            confirmed,
        }
    }

    fn found(products: u64) -> Found {
        Found {
            products,
            unreadable: 0,
            stated: None,
            truncated: false,
        }
    }

    #[test]
    fn a_catalogue_that_lost_half_its_products_is_not_believed_at_once() {
        let config = CollapseConfig::default();
        let run: RunId = "r2".parse().unwrap();
        let believed = |before, now| is_believed(&config, before, found(now), &run, None);
        assert!(believed(0, 0) && believed(0, 500) && believed(100, 100) && believed(100, 50) && believed(100, 900));
        assert!(believed(15, 6), "fewer than half, but not ten fewer");
        assert!(!believed(100, 49) && !believed(20, 9) && !believed(1, 0) && !believed(100, 0));
    }

    #[test]
    fn another_crawl_or_the_operator_confirms_about_the_same_count() {
        let config = CollapseConfig::default();
        let (same, other): (RunId, RunId) = ("r1".parse().unwrap(), "r2".parse().unwrap());
        let believed = |now, run, held: &Held| is_believed(&config, 1000, found(now), run, Some(held));
        assert!(believed(200, &other, &held(200, false)));
        assert!(believed(182, &other, &held(200, false)));
        assert!(!believed(150, &other, &held(200, false)), "quite another count");
        assert!(
            !believed(200, &same, &held(200, false)),
            "the same crawl, resumed, confirms nothing"
        );
        assert!(believed(200, &same, &held(200, true)));
        assert!(
            !believed(0, &other, &held(200, true)) && !believed(0, &other, &held(3, true)),
            "the operator confirmed some, not none"
        );
        assert!(believed(0, &other, &held(0, true)));
    }

    #[test]
    fn what_a_crawl_lacks_that_did_not_come_to_the_end_is_not_gone_at_once() {
        let config = CollapseConfig::default();
        let (same, other): (RunId, RunId) = ("r1".parse().unwrap(), "r2".parse().unwrap());
        let believed = |now, run, held: Option<&Held>| {
            let cut = Found {
                truncated: true,
                ..found(now)
            };
            is_believed(&config, 100, cut, run, held)
        };
        assert!(believed(100, &other, None) && believed(101, &other, None));
        assert!(!believed(99, &other, None) && !believed(99, &same, Some(&held(99, false))));
        assert!(believed(99, &other, Some(&held(99, false))) && believed(99, &same, Some(&held(99, true))));
    }

    #[test]
    fn an_empty_catalogue_is_confirmed_by_the_operator_or_by_the_stores_own_count() {
        let config = CollapseConfig::default();
        let (same, other): (RunId, RunId) = ("r1".parse().unwrap(), "r2".parse().unwrap());
        let believed = |stated, run, held: Option<&Held>| {
            let empty = Found { stated, ..found(0) };
            is_believed(&config, 1000, empty, run, held)
        };
        let seen = held(0, false);
        assert!(!believed(None, &other, Some(&seen)) && !believed(Some(7), &other, Some(&seen)));
        assert!(believed(Some(0), &other, Some(&seen)));
        assert!(!believed(Some(0), &same, Some(&seen)) && !believed(Some(0), &other, None));
    }

    #[test]
    fn records_that_could_not_be_understood_are_not_gone_because_it_happened_twice() {
        let config = CollapseConfig::default();
        let other: RunId = "r2".parse().unwrap();
        let believed = |unreadable: u64, held_unreadable: u64, confirmed| {
            let now = Found {
                unreadable,
                ..found(200)
            };
            let held = Held {
                quarantined: held_unreadable,
                ..held(200, confirmed)
            };
            is_believed(&config, 1000, now, &other, Some(&held))
        };
        assert!(believed(0, 0, false) && believed(22, 22, false));
        assert!(!believed(23, 23, false), "more than a tenth of the records");
        assert!(!believed(800, 0, false) && !believed(0, 800, false), "either time");
        assert!(believed(800, 800, true));
        // Half of what is missing, though less than a tenth of all.
        let few = |unreadable| {
            Found {
                unreadable,
                ..found(100)
            }
            .is_confirmed_by_repetition(120)
        };
        assert!(few(9) && !few(10) && !few(11));
    }
}
