//! Time until which a store requested a pause. The time is stored in `crawl-state/{store}-hold.json`, so that the next
//! run respects it too.

use data_model::{StoreHost, Timestamp};
use data_storage::Storage;
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use storefront::HOLD_MAX;

use crate::document::{delete_object, load_document, save_document};
use crate::landing::LandingError;

#[derive(Debug, Serialize, Deserialize)]
struct Hold {
    until: Timestamp,
}

/// Returns the path of the file with the time until which a store must not be queried. If the file is missing, the next
/// run queries the store.
#[must_use]
pub fn hold_at(store: &StoreHost) -> Path {
    Path::from_iter(["crawl-state", &format!("{store}-hold.json")])
}

/// Returns the time until which the store must not be queried. An unreadable file is ignored. A time too far in the
/// future is also ignored, because it comes from a wrong clock.
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
    Ok(delete_object(storage, &hold_at(store)).await?)
}
