//! JSON documents in which a run stores data for later runs. A document that cannot be parsed counts as missing,
//! because all of them only save work.

use std::io::{BufReader, Read};

use data_model::StoreHost;
use data_storage::{ObjectPath, Storage, StorageError, get_bytes, list_all, put_over};
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
    put_over(storage, at, encoded(at, serde_json::to_vec(document))?).await
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
    put_over(storage, at, encoded(at, serde_json::to_vec_pretty(document))?).await
}

fn encoded(at: &ObjectPath, json: serde_json::Result<Vec<u8>>) -> Result<Vec<u8>, StorageError> {
    json.map_err(|source| StorageError::EncodeEvent {
        path: at.to_string(),
        source,
    })
}

/// Maximum bytes of a decompressed document.
const UNPACKED_BYTES_MAX: u64 = 512 << 20;

/// Returns the path of a compressed document about a store, next to its crawl state.
#[must_use]
pub fn packed_at(store: &StoreHost, name: &str) -> ObjectPath {
    ObjectPath::from_iter(["crawl-state", &format!("{store}-{name}.json.zst")])
}

/// Returns `None` if the compressed document is missing or cannot be parsed.
///
/// # Errors
/// The storage fails.
pub async fn load_packed<T: DeserializeOwned>(storage: &Storage, at: &ObjectPath) -> Result<Option<T>, StorageError> {
    let packed = get_bytes(storage, at).await?;
    Ok(packed.and_then(|packed| {
        let decoder = zstd::stream::Decoder::with_buffer(&*packed).ok()?;
        serde_json::from_reader(BufReader::new(decoder.take(UNPACKED_BYTES_MAX))).ok()
    }))
}

/// Compresses a document, and writes or overwrites it durably.
///
/// # Errors
/// The errors of [`save_document`].
pub async fn save_packed<T: Serialize + Sync>(
    storage: &Storage,
    at: &ObjectPath,
    document: &T,
) -> Result<(), StorageError> {
    let json = encoded(at, serde_json::to_vec(document))?;
    let packed = zstd::encode_all(json.as_slice(), 3).map_err(|source| StorageError::Write {
        path: at.to_string(),
        source: object_store::Error::Generic {
            store: "zstd",
            source: Box::new(source),
        },
    })?;
    put_over(storage, at, packed).await
}

/// Lists all objects below a folder.
///
/// # Errors
/// The storage fails.
pub async fn list_objects(storage: &Storage, folder: &ObjectPath) -> Result<Vec<ObjectPath>, StorageError> {
    let listed = list_all(storage, Some(folder)).await?;
    Ok(listed.into_iter().map(|meta| meta.location).collect())
}
