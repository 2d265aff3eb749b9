//! The moment at which each store was asked last.

use data_model::{StoreHost, Timestamp};
use data_storage::{Storage, StorageError, get_bytes, put_over};
use object_store::path::Path;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct AskState {
    asked_at: Timestamp,
}

fn at(store: &StoreHost) -> Path {
    Path::from_iter(["crawl-state", &format!("{store}-shipping.json")])
}

/// The moment at which the store was asked last; `None` where it never was, or the note of it cannot be understood.
pub(crate) async fn asked_at(storage: &Storage, store: &StoreHost) -> Result<Option<Timestamp>, StorageError> {
    let bytes = get_bytes(storage, &at(store)).await?;
    let asked = bytes.and_then(|bytes| serde_json::from_slice::<AskState>(&bytes).ok());
    Ok(asked.map(|asked| asked.asked_at))
}

/// Notes that it was asked, after the lake has what it said.
pub(crate) async fn note(storage: &Storage, store: &StoreHost, asked_at: Timestamp) -> Result<(), StorageError> {
    let written = serde_json::to_vec(&AskState { asked_at }).unwrap_or_default();
    put_over(storage, &at(store), written).await
}
