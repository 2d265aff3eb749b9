//! The list of backups.

use std::collections::HashMap;
use std::io;

use data_storage::{ObjectPath, Storage, StorageError, get_bytes, put_new};
use futures::{StreamExt as _, TryStreamExt as _};

use crate::manifest::FORMAT;
use crate::{BackupError, BackupId, Manifest};

/// The folder of the lists of backups.
const FOLDER: &str = "backups";
/// The ending of a list's name.
const ENDING: &str = ".json.zst";
/// The largest list that is read, unpacked: some five million objects.
const MANIFEST_BYTES_MAX: usize = 1 << 30;
/// Lists are small and repeat themselves.
const LEVEL: i32 = 3;

/// A backup, as a list of all of them names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupSummary {
    /// Its name.
    pub id: BackupId,
}

fn path(id: &BackupId) -> ObjectPath {
    ObjectPath::from(format!("{FOLDER}/{id}{ENDING}"))
}

/// Every object below a folder, with its size.
pub(crate) async fn objects(storage: &Storage, folder: &str) -> Result<HashMap<String, u64>, StorageError> {
    let prefix = ObjectPath::from(folder);
    let listed = storage.store().list(Some(&prefix));
    let sizes = listed.map_ok(|meta| (meta.location.filename().unwrap_or_default().to_owned(), meta.size));
    sizes.try_collect().await.map_err(|source| StorageError::List {
        prefix: folder.to_owned(),
        source,
    })
}

/// All backups, the oldest first.
///
/// # Errors
/// The storage fails.
pub async fn list(backups: &Storage) -> Result<Vec<BackupSummary>, BackupError> {
    let names = objects(backups, FOLDER).await?;
    let ids = names.keys().filter_map(|name| name.strip_suffix(ENDING)?.parse().ok());
    let mut found: Vec<BackupSummary> = ids.map(|id| BackupSummary { id }).collect();
    found.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(found)
}

/// The list of a backup; of the newest one where none is named.
///
/// # Errors
/// There is no such backup, its list is damaged or of a newer version, or the storage fails.
pub async fn load(backups: &Storage, id: Option<&BackupId>) -> Result<Manifest, BackupError> {
    let id = match id {
        Some(id) => id.clone(),
        None => match list(backups).await?.pop() {
            Some(newest) => newest.id,
            None => {
                return Err(BackupError::NoBackup {
                    url: backups.url().to_string(),
                });
            }
        },
    };
    let packed = get_bytes(backups, &path(&id)).await?;
    let packed = packed.ok_or_else(|| BackupError::NoSuchBackup { id: id.clone() })?;
    let damaged = |source| BackupError::Manifest { id: id.clone(), source };
    let plain = zstd::bulk::Decompressor::new()
        .and_then(|mut zstd| zstd.decompress(&packed, unpacked(&packed)))
        .map_err(damaged)?;
    let manifest: Manifest = serde_json::from_slice(&plain).map_err(|error| damaged(io::Error::from(error)))?;
    if manifest.format > FORMAT {
        let format = manifest.format;
        return Err(BackupError::Newer { id, format });
    }
    Ok(manifest)
}

/// The bytes that a list may unpack to: as it says itself, up to a bound.
fn unpacked(packed: &[u8]) -> usize {
    let said = zstd::bulk::Decompressor::upper_bound(packed);
    said.unwrap_or(MANIFEST_BYTES_MAX).min(MANIFEST_BYTES_MAX)
}

/// Writes the list of a new backup; `false` where its name is taken.
pub(crate) async fn store(backups: &Storage, manifest: &Manifest) -> Result<bool, BackupError> {
    let damaged = |source| BackupError::Manifest {
        id: manifest.id.clone(),
        source,
    };
    let plain = serde_json::to_vec(manifest).map_err(|error| damaged(io::Error::from(error)))?;
    let packed = packed(&plain).map_err(damaged)?;
    Ok(put_new(backups, &path(&manifest.id), packed).await?)
}

/// Packs a list with a checksum: a bit that flips is an error of whoever unpacks it, and no other list.
fn packed(plain: &[u8]) -> io::Result<Vec<u8>> {
    let mut zstd = zstd::bulk::Compressor::new(LEVEL)?;
    zstd.include_checksum(true)?;
    zstd.compress(plain)
}

/// Forgets a backup; its objects stay.
pub(crate) async fn forget(backups: &Storage, id: &BackupId) -> Result<(), BackupError> {
    remove(backups, &path(id)).await
}

/// Removes an object, if it is there.
pub(crate) async fn remove(storage: &Storage, path: &ObjectPath) -> Result<(), BackupError> {
    use data_storage::ObjectStoreExt as _;
    match storage.store().delete(path).await {
        Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
        Err(source) => Err(BackupError::Storage(StorageError::Write {
            path: path.to_string(),
            source,
        })),
    }
}

/// The objects of a backup that are not there, or have another size.
pub(crate) async fn missing(backups: &Storage, manifest: &Manifest) -> Result<Vec<String>, BackupError> {
    let there = objects(backups, "objects").await?;
    let is_missing = |entry: &&crate::Entry| there.get(&entry.sha256) != Some(&entry.bytes);
    let missing = manifest.entries.iter().filter(is_missing);
    Ok(missing.map(|entry| entry.path.clone()).collect())
}

/// Every pair of path and object that satisfies a check, with so many looked at together.
pub(crate) async fn each<T, F>(work: impl IntoIterator<Item = F>, at_once: usize) -> Result<Vec<T>, BackupError>
where
    F: Future<Output = Result<T, BackupError>>,
{
    futures::stream::iter(work).buffered(at_once).try_collect().await
}
