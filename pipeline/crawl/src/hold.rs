//! The moment until which a store asked to be left alone: `crawl-state/{store}-hold.json`, so that the next run keeps
//! to it too.

use data_model::{StoreHost, Timestamp};
use data_storage::{Storage, get_bytes, put_over};
use object_store::ObjectStoreExt;
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use storefront::HOLD_MAX;

use crate::landing::LandingError;

#[derive(Debug, Serialize, Deserialize)]
struct Hold {
    until: Timestamp,
}

/// The place of the moment until which a store is to be left alone. Without it the next run asks.
#[must_use]
pub fn hold_at(store: &StoreHost) -> Path {
    Path::from_iter(["crawl-state", &format!("{store}-hold.json")])
}

/// The moment until which the store is to be left alone; an unreadable note is none, and neither is one of a clock that
/// was ahead.
pub(crate) async fn load_hold(
    storage: &Storage,
    store: &StoreHost,
    now: Timestamp,
) -> Result<Option<Timestamp>, LandingError> {
    let json = get_bytes(storage, &hold_at(store)).await?;
    let hold: Option<Hold> = json.and_then(|json| serde_json::from_slice(&json).ok());
    let latest = now.latest_believed(i64::try_from(HOLD_MAX.as_millis()).unwrap_or(i64::MAX));
    Ok(hold.map(|hold| hold.until).filter(|until| *until <= latest))
}

pub(crate) async fn save_hold(storage: &Storage, store: &StoreHost, until: Timestamp) -> Result<(), LandingError> {
    let path = hold_at(store);
    let json = serde_json::to_vec(&Hold { until }).map_err(|source| LandingError::Json {
        path: path.clone(),
        source,
    })?;
    Ok(put_over(storage, &path, json).await?)
}

pub(crate) async fn drop_hold(storage: &Storage, store: &StoreHost) -> Result<(), LandingError> {
    let path = hold_at(store);
    match storage.store().delete(&path).await {
        Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
        Err(source) => Err(LandingError::Prefix { path, source }),
    }
}
