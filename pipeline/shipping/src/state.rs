//! The moment at which each store was asked last.

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

/// The moment at which the store was asked last; `None` where it never was, or the note of it cannot be understood.
pub(crate) async fn asked_at(storage: &Storage, store: &StoreHost) -> Result<Option<Timestamp>, StorageError> {
    let state: Option<AskState> = load_document(storage, &at(store)).await?;
    Ok(state.map(|state| state.asked_at))
}

/// Notes that it was asked, after the lake has what it said.
pub(crate) async fn note(storage: &Storage, store: &StoreHost, asked_at: Timestamp) -> Result<(), StorageError> {
    save_document(storage, &at(store), &AskState { asked_at }).await
}
