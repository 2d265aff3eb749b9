//! Loads and saves compressed notes on the products of one store, next to its crawl state.

use data_model::StoreHost;
use data_storage::{Storage, StorageError, get_bytes, put_over};
use object_store::path::Path;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Maximum bytes of a decompressed note.
const NOTE_BYTES_MAX: u64 = 512 << 20;

#[derive(Debug, thiserror::Error)]
pub(crate) enum PackedError {
    #[error("saved data about products cannot be read or written")]
    Storage(#[from] StorageError),
    #[error("data about products cannot be serialised")]
    Json(#[source] serde_json::Error),
    #[error("data about products cannot be compressed")]
    Zstd(#[source] std::io::Error),
}

pub(crate) fn packed_at(store: &StoreHost, name: &str) -> Path {
    Path::from_iter(["crawl-state", &format!("{store}-{name}.json.zst")])
}

/// Notes that are missing or cannot be parsed are empty, because the store will state the same again.
pub(crate) async fn load_packed<T: DeserializeOwned + Default>(storage: &Storage, at: &Path) -> Result<T, PackedError> {
    let Some(packed) = get_bytes(storage, at).await? else {
        return Ok(T::default());
    };
    Ok(unpack(&packed).unwrap_or_default())
}

pub(crate) async fn save_packed<T: Serialize>(storage: &Storage, at: &Path, notes: &T) -> Result<(), PackedError> {
    let json = serde_json::to_vec(notes).map_err(PackedError::Json)?;
    let packed = zstd::encode_all(json.as_slice(), 3).map_err(PackedError::Zstd)?;
    Ok(put_over(storage, at, packed).await?)
}

fn unpack<T: DeserializeOwned>(packed: &[u8]) -> Option<T> {
    let decoder = zstd::stream::Decoder::with_buffer(packed).ok()?;
    serde_json::from_reader(std::io::BufReader::new(std::io::Read::take(decoder, NOTE_BYTES_MAX))).ok()
}
