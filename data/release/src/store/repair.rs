use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use data_index::{FileEntry, Manifest, Sha256Hex};

use super::cache::files_dir;
use super::fetch::{FetchedFile, Source, hash_local};
use super::{ReleaseStore, file_path};
use crate::damage::{Damage, DamageKind, kind_of};
use crate::error::ReleaseError;
use crate::local::LocalRelease;

/// Folders in which a publisher may have copies of a release's files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copies<'a> {
    pub(super) built: &'a Path,
    pub(super) cache: &'a Path,
}

impl Copies<'_> {
    pub(super) fn built(&self, file: &FileEntry) -> bool {
        self.built.join(file.sha256.to_string()).exists()
    }

    /// Returns the path of an intact local copy. Damaged or unreadable copies are ignored.
    pub(super) async fn good(&self, file: &FileEntry) -> Option<PathBuf> {
        for dir in [self.built.to_owned(), files_dir(self.cache)] {
            let copy = dir.join(file.sha256.to_string());
            if !std::fs::metadata(&copy).is_ok_and(|metadata| metadata.len() == file.size_bytes) {
                continue;
            }
            match hash_local(copy.clone()).await {
                Ok((found, _)) if found == file.sha256 => return Some(copy),
                Ok(_) => tracing::warn!(path = %copy.display(), "a local copy of a release's file is damaged"),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "a local copy cannot be read");
                }
            }
        }
        None
    }
}

impl ReleaseStore {
    /// Fetches a release for its checks. Files that are damaged in the store are rewritten from an intact copy.
    ///
    /// A cached file shows nothing about the store's file, unless both are the same file on disk. Such files are also
    /// read from the store if the store is local, or if they were `uploaded` just now. For other files in a remote
    /// store, only the size is checked: reading a whole release at every publication would cost more than everything
    /// else.
    pub(super) async fn fetch_repairing(
        &self,
        manifest: &Manifest,
        copies: Copies<'_>,
        uploaded: &BTreeSet<Sha256Hex>,
    ) -> Result<LocalRelease, ReleaseError> {
        let mut repaired = BTreeSet::new();
        let (local, fetched) = loop {
            let error = match self.fetch_each(manifest, copies.cache).await {
                Ok(fetched) => break fetched,
                Err(error) => error,
            };
            let damaged = match &error {
                ReleaseError::FileMissing { sha256, .. } => Some((*sha256, None)),
                ReleaseError::FileDamaged {
                    sha256,
                    found,
                    size_bytes,
                    ..
                } => Some((*sha256, Some((*found, *size_bytes)))),
                _ => None,
            };
            // Each file is repaired at most once, so that the loop ends.
            let Some((sha256, found)) = damaged.filter(|(sha256, _)| repaired.insert(*sha256)) else {
                return Err(error);
            };
            let Some(file) = manifest.files().find(|file| file.sha256 == sha256) else {
                return Err(error);
            };
            let kind = found.and_then(|(found, size_bytes)| kind_of(file, found, size_bytes));
            let kind = kind.unwrap_or(DamageKind::Missing);
            self.repair(manifest, file, kind, copies).await?;
        };
        for FetchedFile { file, source } in &fetched {
            if matches!(source, Source::Cache)
                && let Some(kind) = self.damage_behind_cache(file, copies.cache, uploaded).await?
            {
                self.repair(manifest, file, kind, copies).await?;
            }
        }
        Ok(local)
    }

    /// Returns the damage in the store of a file that the cache had.
    async fn damage_behind_cache(
        &self,
        file: &FileEntry,
        cache: &Path,
        uploaded: &BTreeSet<Sha256Hex>,
    ) -> Result<Option<DamageKind>, ReleaseError> {
        let Some(root) = self.storage.local_dir() else {
            return if uploaded.contains(&file.sha256) {
                self.damage_of(file).await
            } else {
                Ok(None)
            };
        };
        let stored = root.join(file_path(file.sha256).as_ref());
        let cached = files_dir(cache).join(file.sha256.to_string());
        if one_file(&stored, &cached) || self.is_verified(&stored, file).await? {
            return Ok(None);
        }
        self.damage_of(file).await
    }

    /// Rewrites a file of the store from an intact copy, and reads it back.
    async fn repair(
        &self,
        manifest: &Manifest,
        file: &FileEntry,
        kind: DamageKind,
        copies: Copies<'_>,
    ) -> Result<(), ReleaseError> {
        let id = manifest.id;
        let Some(from) = copies.good(file).await else {
            let damage = vec![Damage::new(manifest, file, kind)];
            return Err(ReleaseError::NoGoodCopy { id, damage });
        };
        tracing::warn!(release = %id, file = %file.sha256, damage = %kind, "a file of the release store is replaced");
        self.upload(file, from).await?;
        match self.damage_of(file).await? {
            None => Ok(()),
            Some(kind) => {
                let damage = vec![Damage::new(manifest, file, kind)];
                Err(ReleaseError::Damaged { id, damage })
            }
        }
    }
}

fn one_file(one: &Path, other: &Path) -> bool {
    match (std::fs::metadata(one), std::fs::metadata(other)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}
