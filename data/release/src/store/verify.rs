use std::collections::BTreeMap;

use async_recursion::async_recursion as boxed;
use data_index::digest::Hasher;
use data_index::{FileEntry, Manifest, Sha256Hex};
use data_model::ReleaseId;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt};
use object_store::ObjectStoreExt;

use super::fetch::{FILES_AT_ONCE, hash_local};
use super::{ReleaseStore, file_path};
use crate::damage::{Damage, DamageKind, kind_of};
use crate::error::ReleaseError;

impl ReleaseStore {
    /// Reads every file of a release from the store, without caches, and returns the missing and damaged ones.
    ///
    /// # Errors
    /// The store failed.
    #[boxed]
    pub async fn verify(&self, manifest: &Manifest) -> Result<Vec<Damage>, ReleaseError> {
        let damage = self.verify_all(std::slice::from_ref(manifest)).await?;
        Ok(damage.into_iter().map(|(_, damage)| damage).collect())
    }

    /// Verifies several releases as [`ReleaseStore::verify`] does. A file that several releases share is read once, and
    /// reported for the first of them.
    ///
    /// # Errors
    /// The errors of [`ReleaseStore::verify`].
    #[boxed]
    pub async fn verify_all(&self, manifests: &[Manifest]) -> Result<Vec<(ReleaseId, Damage)>, ReleaseError> {
        let mut files: BTreeMap<Sha256Hex, (&Manifest, &FileEntry)> = BTreeMap::new();
        for manifest in manifests {
            for file in manifest.files() {
                files.entry(file.sha256).or_insert((manifest, file));
            }
        }
        // Without the box, the compiler cannot prove that this future is `Send`.
        let read: Vec<BoxFuture<'_, _>> = files
            .into_values()
            .map(|(manifest, file)| {
                let damage = async move {
                    let kind = self.damage_of(file).await?;
                    Ok::<_, ReleaseError>(kind.map(|kind| (manifest.id, Damage::new(manifest, file, kind))))
                };
                damage.boxed()
            })
            .collect();
        futures::stream::iter(read)
            .buffered(FILES_AT_ONCE)
            .try_filter_map(|damage| std::future::ready(Ok(damage)))
            .try_collect()
            .await
    }

    pub(super) async fn damage_of(&self, file: &FileEntry) -> Result<Option<DamageKind>, ReleaseError> {
        let path = file_path(file.sha256);
        if let Some(root) = self.storage.local_dir() {
            return match hash_local(root.join(path.as_ref())).await {
                Ok((found, size_bytes)) => Ok(kind_of(file, found, size_bytes)),
                Err(ReleaseError::Local { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                    Ok(Some(DamageKind::Missing))
                }
                Err(error) => Err(error),
            };
        }
        let failed = |source| ReleaseError::Object {
            action: "read",
            path: path.to_string(),
            source,
        };
        let stored = match self.storage.store().get(&path).await {
            Ok(stored) => stored,
            Err(object_store::Error::NotFound { .. }) => return Ok(Some(DamageKind::Missing)),
            Err(source) => return Err(failed(source)),
        };
        let (found, expected) = (stored.meta.size, file.size_bytes);
        if found != expected {
            return Ok(Some(DamageKind::Size { found, expected }));
        }
        let mut chunks = stored.into_stream();
        let mut hasher = Hasher::default();
        while let Some(chunk) = chunks.try_next().await.map_err(failed)? {
            hasher.update(&chunk);
        }
        let (found, size_bytes) = hasher.finish();
        Ok(kind_of(file, found, size_bytes))
    }

    pub(super) async fn size_damage_of(&self, file: &FileEntry) -> Result<Option<DamageKind>, ReleaseError> {
        let path = file_path(file.sha256);
        match self.storage.store().head(&path).await {
            Ok(meta) if meta.size == file.size_bytes => Ok(None),
            Ok(meta) => Ok(Some(DamageKind::Size {
                found: meta.size,
                expected: file.size_bytes,
            })),
            Err(object_store::Error::NotFound { .. }) => Ok(Some(DamageKind::Missing)),
            Err(source) => Err(ReleaseError::Object {
                action: "look up",
                path: path.to_string(),
                source,
            }),
        }
    }
}
