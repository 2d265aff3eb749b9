//! End of the pause that a store requested, stored in `crawl-state/{store}-hold.json` for the next run.

use data_model::{StoreHost, Timestamp};
use data_storage::{Storage, delete};
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use storefront::HOLD_MAX;

use crate::document::{load_document, save_document};
use crate::landing::LandingError;

#[derive(Debug, Serialize, Deserialize)]
struct Hold {
    until: Timestamp,
}

/// Returns the path of the file with the end of a store's pause. Without the file, the next run contacts the store.
#[must_use]
pub fn hold_at(store: &StoreHost) -> Path {
    Path::from_iter(["crawl-state", &format!("{store}-hold.json")])
}

/// Returns the end of the store's pause. An unreadable file is ignored, and so is a time too far in the future, which
/// comes from a wrong clock.
pub(crate) async fn load_hold(
    storage: &Storage,
    store: &StoreHost,
    now: Timestamp,
) -> Result<Option<Timestamp>, LandingError> {
    let hold: Option<Hold> = load_document(storage, &hold_at(store)).await?;
    let latest = now.latest_believed(i64::try_from(HOLD_MAX.as_millis()).unwrap_or(i64::MAX));
    Ok(hold.map(|hold| hold.until).filter(|until| *until <= latest))
}

pub(crate) async fn save_hold(storage: &Storage, store: &StoreHost, until: Timestamp) -> Result<(), LandingError> {
    Ok(save_document(storage, &hold_at(store), &Hold { until }).await?)
}

pub(crate) async fn drop_hold(storage: &Storage, store: &StoreHost) -> Result<(), LandingError> {
    Ok(delete(storage, &hold_at(store)).await?)
}
