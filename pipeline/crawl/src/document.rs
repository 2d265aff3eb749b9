//! JSON documents of a home, one object each, by which a run knows of those before it. One that cannot be understood is none: all
//! of them only save work.

use data_storage::{ObjectPath, ObjectStore, ObjectStoreExt, Storage, StorageError, get_bytes, put_over};
use futures::TryStreamExt;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The document; `None` where it is missing or cannot be understood.
///
/// # Errors
/// The storage fails.
pub async fn load_document<T: DeserializeOwned>(storage: &Storage, at: &ObjectPath) -> Result<Option<T>, StorageError> {
    let json = get_bytes(storage, at).await?;
    Ok(json.and_then(|json| serde_json::from_slice(&json).ok()))
}

/// Writes a document, or writes it anew: durable when this returns.
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

/// [`save_document`] for people to read.
///
/// # Errors
/// As [`save_document`].
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

/// Deletes an object; one that another process deleted before is no error.
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

/// All objects below a folder.
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
