//! JSON documents in which a run stores data for later runs. A document that cannot be parsed counts as missing,
//! because all of them only save work.

use data_storage::{ObjectPath, ObjectStore, ObjectStoreExt, Storage, StorageError, get_bytes, put_over};
use futures::TryStreamExt;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Returns `None` if the document is missing or cannot be parsed.
///
/// # Errors
/// The storage fails.
pub async fn load_document<T: DeserializeOwned>(storage: &Storage, at: &ObjectPath) -> Result<Option<T>, StorageError> {
    let json = get_bytes(storage, at).await?;
    Ok(json.and_then(|json| serde_json::from_slice(&json).ok()))
}

/// Writes or overwrites a document durably.
///
/// # Errors
/// The storage fails, or the document does not serialise.
pub async fn save_document<T: Serialize + Sync>(
    storage: &Storage,
    at: &ObjectPath,
    document: &T,
) -> Result<(), StorageError> {
    put_json(storage, at, serde_json::to_vec(document)).await
}

/// Writes a document as [`save_document`] does, but formatted for human readers.
///
/// # Errors
/// The errors of [`save_document`].
pub async fn save_readable<T: Serialize + Sync>(
    storage: &Storage,
    at: &ObjectPath,
    document: &T,
) -> Result<(), StorageError> {
    put_json(storage, at, serde_json::to_vec_pretty(document)).await
}

async fn put_json(storage: &Storage, at: &ObjectPath, json: serde_json::Result<Vec<u8>>) -> Result<(), StorageError> {
    let json = json.map_err(|source| StorageError::EncodeEvent {
        path: at.to_string(),
        source,
    })?;
    put_over(storage, at, json).await
}

/// Deletes an object. An object that another process has already deleted is not an error.
///
/// # Errors
/// The storage fails.
pub async fn delete_object(storage: &Storage, at: &ObjectPath) -> Result<(), StorageError> {
    match storage.store().delete(at).await {
        Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
        Err(source) => Err(StorageError::Write {
            path: at.to_string(),
            source,
        }),
    }
}

/// Lists all objects below a folder.
///
/// # Errors
/// The storage fails.
pub async fn list_objects(storage: &Storage, folder: &ObjectPath) -> Result<Vec<ObjectPath>, StorageError> {
    let listed = storage.store().list(Some(folder)).map_ok(|meta| meta.location);
    listed.try_collect().await.map_err(|source| StorageError::List {
        prefix: folder.to_string(),
        source,
    })
}
