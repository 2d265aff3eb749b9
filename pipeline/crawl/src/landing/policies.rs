//! Reads the policies that crawls landed when they searched for discount codes.

use std::collections::BTreeMap;

use async_recursion::async_recursion as boxed;
use bytes::Bytes;
use data_model::{RunId, StoreHost};
use data_storage::{Storage, get_bytes};
use futures::TryStreamExt;
use object_store::path::Path;

use super::{LandingError, POLICIES, landed_at, unpack};

/// Returns the runs that landed each store's policies, in chronological order.
///
/// # Errors
/// [`LandingError::Prefix`].
#[boxed]
pub async fn landed_policies(storage: &Storage) -> Result<BTreeMap<StoreHost, Vec<RunId>>, LandingError> {
    let prefix = Path::from("landing");
    let mut listed = storage.store().list(Some(&prefix));
    let mut found: BTreeMap<StoreHost, Vec<RunId>> = BTreeMap::new();
    loop {
        let next = listed.try_next().await;
        let Some(meta) = next.map_err(|source| LandingError::Prefix {
            path: prefix.clone(),
            source,
        })?
        else {
            break;
        };
        let mut parts = meta.location.parts().skip(1);
        let (run, store, file) = (parts.next(), parts.next(), parts.next());
        let run = run.and_then(|run| run.as_ref().parse().ok());
        let store = store.and_then(|store| store.as_ref().parse().ok());
        if let (Some(run), Some(store), true) = (run, store, file.is_some_and(|file| file.as_ref() == POLICIES)) {
            found.entry(store).or_default().push(run);
        }
    }
    // Run ids sort chronologically.
    found.values_mut().for_each(|runs| runs.sort_unstable());
    Ok(found)
}

/// Returns the landed policies of a store as the JSON that it sent. `None` if they are missing or damaged.
#[boxed]
pub async fn read_policies(storage: &Storage, run: &RunId, store: &StoreHost) -> Result<Option<Bytes>, LandingError> {
    let Some(frame) = get_bytes(storage, &landed_at(run, store, POLICIES)).await? else {
        return Ok(None);
    };
    Ok(unpack(&frame).ok().flatten())
}
