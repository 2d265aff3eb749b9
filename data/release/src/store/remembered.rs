use std::io::Write;
use std::path::{Path, PathBuf};

use async_recursion::async_recursion as boxed;
use data_index::{Manifest, digest};
use data_storage::Storage;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::cache::{files_dir, local, partial_dir};
use super::{Current, ReleaseStore, genuine};
use crate::error::ReleaseError;
use crate::local::LocalRelease;

/// A cache's record of the last current release, which suffices to open the release without the store.
#[derive(Serialize, Deserialize)]
struct Remembered<M> {
    /// Several stores may share a cache.
    storage: String,
    current: Current,
    manifest: M,
}

const REMEMBERED_BYTES_MAX: u64 = 256 << 20;

/// Each store has its own file.
fn path(cache: &Path, storage: &Storage) -> PathBuf {
    let of_store: [u8; 8] = digest::prefix(storage.url().as_str().as_bytes());
    cache.join(format!("current-{}.json", hex::encode(of_store)))
}

impl ReleaseStore {
    /// Records in a cache which release is current, with its manifest, for [`ReleaseStore::remembered`].
    ///
    /// # Errors
    /// The cache cannot be written. The previous record stays.
    pub fn remember(&self, cache: &Path, current: &Current, manifest: &Manifest) -> Result<(), ReleaseError> {
        let remembered = Remembered {
            storage: self.storage.url().to_string(),
            current: *current,
            manifest,
        };
        let json = serde_json::to_vec(&remembered).map_err(|source| ReleaseError::ManifestNotJson {
            id: manifest.id,
            source,
        })?;
        let folder = partial_dir(cache);
        std::fs::create_dir_all(&folder).map_err(local("create", &folder))?;
        let partial = folder.join(Uuid::new_v4().to_string());
        let target = path(cache, &self.storage);
        let written = std::fs::File::create_new(&partial)
            .and_then(|mut file| file.write_all(&json).and_then(|()| file.sync_all()))
            .and_then(|()| std::fs::rename(&partial, &target));
        if written.is_err() {
            // `clean_cache` removes a file that cannot be removed now.
            let _ = std::fs::remove_file(&partial);
        }
        written.map_err(local("write", &target))
    }

    /// Returns `true` if a cache has a record of a release of this store, even without all files.
    #[must_use]
    pub fn remembers(&self, cache: &Path) -> bool {
        path(cache, &self.storage).exists()
    }

    /// Returns the release that was current when this cache was last written. Every file is verified as by
    /// [`ReleaseStore::fetch`], and the store is not accessed. Returns `None` if the cache has no record.
    ///
    /// # Errors
    /// The cache's record is damaged, a file is missing or damaged, or the cache cannot be read.
    #[boxed]
    pub async fn remembered(&self, cache: &Path) -> Result<Option<(Current, LocalRelease)>, ReleaseError> {
        let path = path(cache, &self.storage);
        let read = std::fs::metadata(&path).and_then(|metadata| match metadata.len() {
            ..=REMEMBERED_BYTES_MAX => std::fs::read(&path),
            _ => Err(std::io::ErrorKind::FileTooLarge.into()),
        });
        let json = match read {
            Ok(json) => json,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(local("read", &path)(error)),
        };
        let unreadable = |error: serde_json::Error| local("read", &path)(error.into());
        let remembered: Remembered<Manifest> = serde_json::from_slice(&json).map_err(unreadable)?;
        if remembered.storage != self.storage.url().as_str() {
            return Ok(None);
        }
        let current = remembered.current;
        let manifest = genuine(current.id, remembered.manifest)?;
        self.verified.load(cache);
        for file in manifest.files() {
            let target = files_dir(cache).join(file.sha256.to_string());
            if !self.is_verified(&target, file).await? {
                let (id, sha256) = (manifest.id, file.sha256);
                return Err(ReleaseError::FileMissing { id, sha256 });
            }
        }
        self.verified.save(cache);
        let files = files_dir(cache);
        Ok(Some((current, LocalRelease { manifest, files })))
    }
}
