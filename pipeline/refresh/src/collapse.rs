//! A catalogue that shrank too much is not believed until a second crawl or the operator confirms it: a store that
//! is half down, misconfigured or hostile must not empty its brand. `held/{store}.json` remembers what is held back.

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
    /// Records among the rest that could not be understood.
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

/// Whether to believe that a brand which had `before` products has `found` now.
pub(crate) fn is_believed(config: &CollapseConfig, before: u64, found: u64, run: &RunId, held: Option<&Held>) -> bool {
    // Shares of counts need no more precision than a float has.
    let emptied = found == 0 && before > 0;
    let shrank = (found as f64) < before as f64 * config.share_min && before.saturating_sub(found) >= config.drop_min;
    if !emptied && !shrank {
        return true;
    }
    held.is_some_and(|held| {
        let difference = held.products_found.abs_diff(found);
        let tolerated = held.products_found.max(found) as f64 * config.tolerance;
        let alike = difference <= DIFFERENCE_IGNORED || difference as f64 <= tolerated;
        alike && (held.confirmed || held.run != *run)
    })
}

fn held_at(store: &StoreHost) -> Path {
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

    #[test]
    fn a_catalogue_that_lost_half_its_products_is_not_believed_at_once() {
        let config = CollapseConfig::default();
        let run: RunId = "r2".parse().unwrap();
        let believed = |before, found| is_believed(&config, before, found, &run, None);
        assert!(believed(0, 0) && believed(0, 500) && believed(100, 100) && believed(100, 50) && believed(100, 900));
        assert!(believed(15, 6), "fewer than half, but not ten fewer");
        assert!(!believed(100, 49) && !believed(20, 9) && !believed(1, 0) && !believed(100, 0));
    }

    #[test]
    fn another_crawl_or_the_operator_confirms_about_the_same_count() {
        let config = CollapseConfig::default();
        let (same, other): (RunId, RunId) = ("r1".parse().unwrap(), "r2".parse().unwrap());
        let believed = |found, run, held: &Held| is_believed(&config, 1000, found, run, Some(held));
        assert!(believed(200, &other, &held(200, false)));
        assert!(believed(182, &other, &held(200, false)));
        assert!(!believed(150, &other, &held(200, false)), "quite another count");
        assert!(
            !believed(200, &same, &held(200, false)),
            "the same crawl, resumed, confirms nothing"
        );
        assert!(believed(200, &same, &held(200, true)));
        assert!(
            !believed(0, &other, &held(200, true)),
            "the operator confirmed 200, not 0"
        );
        assert!(believed(0, &other, &held(0, false)));
    }
}
