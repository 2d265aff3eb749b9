//! Records when each store was last queried for its shipping terms.

use data_model::{StoreHost, Timestamp};
use data_storage::{Storage, StorageError};
use object_store::path::Path;
use pipeline_crawl::{load_document, save_document};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct AskState {
    asked_at: Timestamp,
}

fn at(store: &StoreHost) -> Path {
    Path::from_iter(["crawl-state", &format!("{store}-shipping.json")])
}

/// Returns `None` if the store was never queried or the record cannot be parsed.
pub(crate) async fn asked_at(storage: &Storage, store: &StoreHost) -> Result<Option<Timestamp>, StorageError> {
    let state: Option<AskState> = load_document(storage, &at(store)).await?;
    Ok(state.map(|state| state.asked_at))
}

/// The lake must have the store's answer before this call.
pub(crate) async fn note(storage: &Storage, store: &StoreHost, asked_at: Timestamp) -> Result<(), StorageError> {
    save_document(storage, &at(store), &AskState { asked_at }).await
}
