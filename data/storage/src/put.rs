use async_recursion::async_recursion as boxed;
use bytes::Bytes;
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};

use crate::{Storage, StorageError};

/// Writes an object that must not exist yet. Returns `false` if another writer was first, so that the object exists. If
/// a store refuses the put although the object does not exist, the put is retried with growing pauses for about five
/// seconds. S3, for example, answers 409 while another request for the key is in progress.
///
/// Of any number of concurrent callers for one path, exactly one gets `true`, with one exception. A store on a network
/// can lose the response to a successful put, so that its retry gets `false`. A caller that must know the outcome puts
/// a unique value into the bytes and reads the object back, as [`crate::EventLog`] does.
///
/// # Errors
/// The store failed, or repeatedly refused the put although the object does not exist. The object may have been
/// written.
pub async fn put_new(storage: &Storage, path: &Path, bytes: impl Into<PutPayload>) -> Result<bool, StorageError> {
    let options = PutOptions {
        mode: PutMode::Create,
        ..PutOptions::default()
    };
    match storage.store().put_opts(path, bytes.into(), options).await {
        Ok(_) => Ok(true),
        Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => Ok(false),
        Err(source) => Err(StorageError::Write {
            path: path.to_string(),
            source,
        }),
    }
}

/// Writes an object, whether or not it exists. Readers see the old bytes or the new bytes, never a mixture.
///
/// # Errors
/// The store failed. The object may have been written.
pub async fn put_over(storage: &Storage, path: &Path, bytes: impl Into<PutPayload>) -> Result<(), StorageError> {
    let put = storage.store().put(path, bytes.into()).await;
    put.map(drop).map_err(|source| StorageError::Write {
        path: path.to_string(),
        source,
    })
}

/// Returns `true` if the storage refuses to create an object that already exists. All commits rely on this. Writes
/// `path` and removes it.
///
/// # Errors
/// The store failed.
#[boxed]
pub async fn keeps_conditions(storage: &Storage, path: &Path) -> Result<bool, StorageError> {
    put_over(storage, path, Vec::new()).await?;
    let is_refused = !put_new(storage, path, Vec::new()).await?;
    let removed = storage.store().delete(path).await;
    removed.map_err(|source| StorageError::Write {
        path: path.to_string(),
        source,
    })?;
    Ok(is_refused)
}

/// Copies a damaged object to `damaged/{path}` before it is overwritten. If other bytes exist there, `damaged/{path}.2`
/// and so on are used. Returns `None` if the object does not exist.
///
/// # Errors
/// The store failed.
#[boxed]
pub async fn keep_aside(storage: &Storage, path: &Path) -> Result<Option<Path>, StorageError> {
    let Some(bytes) = get_bytes(storage, path).await? else {
        return Ok(None);
    };
    for nth in 1_u64.. {
        let end = if nth == 1 { String::new() } else { format!(".{nth}") };
        let aside = Path::from(format!("damaged/{path}{end}"));
        // An earlier interrupted repair may have saved the same bytes.
        if put_new(storage, &aside, bytes.clone()).await? || get_bytes(storage, &aside).await? == Some(bytes.clone()) {
            return Ok(Some(aside));
        }
    }
    Ok(None)
}

/// Reads a whole object. Returns `None` if it does not exist.
///
/// # Errors
/// The store failed.
#[boxed]
pub async fn get_bytes(storage: &Storage, path: &Path) -> Result<Option<Bytes>, StorageError> {
    let read = |source| StorageError::Read {
        path: path.to_string(),
        source,
    };
    match storage.store().get(path).await {
        Ok(answer) => answer.bytes().await.map(Some).map_err(read),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(source) => Err(read(source)),
    }
}

/// Deletes an object. An object that another process has already deleted is not an error.
///
/// # Errors
/// The store failed.
pub async fn delete(storage: &Storage, path: &Path) -> Result<(), StorageError> {
    match storage.store().delete(path).await {
        Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
        Err(source) => Err(StorageError::Write {
            path: path.to_string(),
            source,
        }),
    }
}

/// Lists all objects, or those below `folder`, in the store's order.
///
/// # Errors
/// The store failed.
#[boxed]
pub async fn list_all(storage: &Storage, folder: Option<&Path>) -> Result<Vec<ObjectMeta>, StorageError> {
    let listed = storage.store().list(folder).try_collect().await;
    listed.map_err(|source| not_listed(storage, folder, source))
}

/// Lists the objects, or those below `folder`, whose path is greater than `after`.
///
/// # Errors
/// The store failed.
#[boxed]
pub async fn list_after(
    storage: &Storage,
    folder: Option<&Path>,
    after: &Path,
) -> Result<Vec<ObjectMeta>, StorageError> {
    let listed = storage.store().list_with_offset(folder, after).try_collect().await;
    listed.map_err(|source| not_listed(storage, folder, source))
}

fn not_listed(storage: &Storage, folder: Option<&Path>, source: object_store::Error) -> StorageError {
    let prefix = folder.map_or_else(|| storage.url().to_string(), ToString::to_string);
    StorageError::List { prefix, source }
}
