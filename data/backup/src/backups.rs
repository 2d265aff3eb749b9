//! Lists of backups and of their objects.

use std::collections::HashMap;
use std::io;

use data_storage::{ObjectPath, Storage, StorageError, delete, get_bytes, list_all, put_new};
use futures::{StreamExt as _, TryStreamExt as _};

use crate::manifest::FORMAT;
use crate::{BackupError, BackupId, Manifest};

/// Folder of the manifests, which list the objects of each backup.
const FOLDER: &str = "backups";
const ENDING: &str = ".json.zst";
/// Maximum unpacked size of a manifest, enough for about five million objects.
const MANIFEST_BYTES_MAX: usize = 1 << 30;
/// Manifests are small and repetitive, so that a fast level is enough.
const LEVEL: i32 = 3;

/// A backup as it appears in the list of all backups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupSummary {
    /// Id of the backup.
    pub id: BackupId,
}

fn path(id: &BackupId) -> ObjectPath {
    ObjectPath::from(format!("{FOLDER}/{id}{ENDING}"))
}

pub(crate) async fn objects(storage: &Storage, folder: &str) -> Result<HashMap<String, u64>, StorageError> {
    let prefix = ObjectPath::from(folder);
    let listed = list_all(storage, Some(&prefix)).await?.into_iter();
    let sizes = listed.map(|meta| (meta.location.filename().unwrap_or_default().to_owned(), meta.size));
    Ok(sizes.collect())
}

/// Returns all backups, oldest first.
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

/// Reads the manifest of a backup, or of the newest one if `id` is `None`.
///
/// # Errors
/// The backup does not exist, its manifest is damaged or has a newer format, or the storage fails.
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

/// Returns the unpacked size that a manifest declares, up to a limit.
fn unpacked(packed: &[u8]) -> usize {
    let said = zstd::bulk::Decompressor::upper_bound(packed);
    said.unwrap_or(MANIFEST_BYTES_MAX).min(MANIFEST_BYTES_MAX)
}

/// Returns `false` if the name of the backup is taken.
pub(crate) async fn store(backups: &Storage, manifest: &Manifest) -> Result<bool, BackupError> {
    let damaged = |source| BackupError::Manifest {
        id: manifest.id.clone(),
        source,
    };
    let plain = serde_json::to_vec(manifest).map_err(|error| damaged(io::Error::from(error)))?;
    let packed = packed(&plain).map_err(damaged)?;
    Ok(put_new(backups, &path(&manifest.id), packed).await?)
}

/// A checksum makes a flipped bit an error when the manifest is unpacked.
fn packed(plain: &[u8]) -> io::Result<Vec<u8>> {
    let mut zstd = zstd::bulk::Compressor::new(LEVEL)?;
    zstd.include_checksum(true)?;
    zstd.compress(plain)
}

/// The objects of the backup stay.
pub(crate) async fn forget(backups: &Storage, id: &BackupId) -> Result<(), BackupError> {
    remove(backups, &path(id)).await
}

pub(crate) async fn remove(storage: &Storage, path: &ObjectPath) -> Result<(), BackupError> {
    Ok(delete(storage, path).await?)
}

/// Returns the paths of a backup's objects that are missing or have another size.
pub(crate) async fn missing(backups: &Storage, manifest: &Manifest) -> Result<Vec<String>, BackupError> {
    let there = objects(backups, "objects").await?;
    let is_missing = |entry: &&crate::Entry| there.get(&entry.sha256) != Some(&entry.bytes);
    let missing = manifest.entries.iter().filter(is_missing);
    Ok(missing.map(|entry| entry.path.clone()).collect())
}

/// Runs the futures with at most `at_once` of them concurrently, and returns their results in order.
pub(crate) async fn each<T, F>(work: impl IntoIterator<Item = F>, at_once: usize) -> Result<Vec<T>, BackupError>
where
    F: Future<Output = Result<T, BackupError>>,
{
    futures::stream::iter(work).buffered(at_once).try_collect().await
}
