use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use async_recursion::async_recursion as boxed;
use data_index::digest::Hasher;
use data_index::{FileEntry, Manifest, Sha256Hex};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt};
use object_store::ObjectStoreExt;
use uuid::Uuid;

use super::cache::{files_dir, local, partial_dir};
use super::verified::State;
use super::{ReleaseStore, file_path};
use crate::error::ReleaseError;
use crate::files::digest_of_file;
use crate::local::LocalRelease;

pub(super) const FILES_AT_ONCE: usize = 4;

/// Numbers of a fetched release's files by origin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FetchReport {
    /// Number of files that the cache had.
    pub cached: u64,
    /// Number of files that were hard-linked or copied from a local store.
    pub linked: u64,
    /// Number of files that were downloaded.
    pub downloaded: u64,
    /// Number of bytes that were downloaded.
    pub downloaded_bytes: u64,
}

#[derive(Debug)]
pub(super) struct FetchedFile {
    pub(super) file: FileEntry,
    pub(super) source: Source,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    Cache,
    Link,
    Download,
}

impl ReleaseStore {
    /// Fetches every file of a release that `cache` lacks, and verifies all files by size and SHA-256. A cached file
    /// that was verified within a day and is unchanged according to the file system is not read again.
    ///
    /// Fetches can be interrupted, and can run in several processes on one cache: a file gets its final name only once
    /// it is complete, verified and synced. If the store is on the same file system, files are hard-linked.
    ///
    /// # Errors
    /// A file is missing or damaged, or the store or the cache failed. Fetched files stay for the next attempt.
    #[boxed]
    pub async fn fetch(&self, manifest: &Manifest, cache: &Path) -> Result<LocalRelease, ReleaseError> {
        self.fetch_reporting(manifest, cache).await.map(|(release, _)| release)
    }

    /// Fetches a release as [`ReleaseStore::fetch`] does, and reports the origins of the files.
    ///
    /// # Errors
    /// The errors of [`ReleaseStore::fetch`].
    #[boxed]
    pub async fn fetch_reporting(
        &self,
        manifest: &Manifest,
        cache: &Path,
    ) -> Result<(LocalRelease, FetchReport), ReleaseError> {
        let (local, fetched) = self.fetch_each(manifest, cache).await?;
        let mut report = FetchReport::default();
        for FetchedFile { file, source } in &fetched {
            match source {
                Source::Cache => report.cached += 1,
                Source::Link => report.linked += 1,
                Source::Download => {
                    report.downloaded += 1;
                    report.downloaded_bytes += file.size_bytes;
                }
            }
        }
        Ok((local, report))
    }

    pub(super) async fn fetch_each(
        &self,
        manifest: &Manifest,
        cache: &Path,
    ) -> Result<(LocalRelease, Vec<FetchedFile>), ReleaseError> {
        for dir in [files_dir(cache), partial_dir(cache)] {
            std::fs::create_dir_all(&dir).map_err(local("create", &dir))?;
        }
        self.verified.load(cache);
        let files: BTreeMap<Sha256Hex, &FileEntry> = manifest.files().map(|file| (file.sha256, file)).collect();
        // Without the box, the compiler cannot prove that this future is `Send`.
        let fetches: Vec<BoxFuture<'_, _>> = files
            .into_values()
            .map(|file| self.fetch_file(manifest, file, cache).boxed())
            .collect();
        let fetched: Vec<FetchedFile> = futures::stream::iter(fetches)
            .buffer_unordered(FILES_AT_ONCE)
            .try_collect()
            .await?;
        if !fetched.iter().all(|fetched| matches!(fetched.source, Source::Cache)) {
            let dir = files_dir(cache);
            std::fs::File::open(&dir)
                .and_then(|dir| dir.sync_all())
                .map_err(local("sync", &dir))?;
        }
        self.verified.save(cache);
        let local = LocalRelease {
            manifest: manifest.clone(),
            files: files_dir(cache),
        };
        Ok((local, fetched))
    }

    async fn fetch_file(
        &self,
        manifest: &Manifest,
        file: &FileEntry,
        cache: &Path,
    ) -> Result<FetchedFile, ReleaseError> {
        let fetched = |source| FetchedFile {
            file: file.clone(),
            source,
        };
        let target = files_dir(cache).join(file.sha256.to_string());
        if self.is_verified(&target, file).await? {
            return Ok(fetched(Source::Cache));
        }
        let partial = partial_dir(cache).join(Uuid::new_v4().to_string());
        let brought = self.bring(manifest, file, &partial).await;
        let placed = brought.and_then(|source| {
            std::fs::rename(&partial, &target).map_err(local("rename", &target))?;
            Ok(fetched(source))
        });
        if placed.is_err() {
            // `clean_cache` removes a file that cannot be removed now.
            let _ = std::fs::remove_file(&partial);
        } else if let Ok(state) = State::of(&target) {
            self.verified.remember(target, state, self.clock.now());
        }
        placed
    }

    /// A damaged file in a cache counts as missing and is replaced.
    pub(super) async fn is_verified(&self, target: &Path, file: &FileEntry) -> Result<bool, ReleaseError> {
        let Ok(state) = State::of(target) else { return Ok(false) };
        if state.size_bytes != file.size_bytes {
            return Ok(false);
        }
        let now = self.clock.now();
        if self.verified.knows(target, state, now) {
            return Ok(true);
        }
        let whole = hash_local(target.to_owned()).await?.0 == file.sha256;
        if whole {
            self.verified.remember(target.to_owned(), state, now);
        }
        Ok(whole)
    }

    async fn bring(&self, manifest: &Manifest, file: &FileEntry, partial: &Path) -> Result<Source, ReleaseError> {
        if let Some(root) = self.storage.local_dir() {
            let stored = root.join(file_path(file.sha256).as_ref());
            if std::fs::hard_link(&stored, partial).is_ok() {
                let (found, size_bytes) = hash_local(partial.to_owned()).await?;
                verify(manifest, file, found, size_bytes)?;
                return Ok(Source::Link);
            }
        }
        self.download(manifest, file, partial).await?;
        Ok(Source::Download)
    }

    async fn download(&self, manifest: &Manifest, file: &FileEntry, partial: &Path) -> Result<(), ReleaseError> {
        let path = file_path(file.sha256);
        let failed = |source| match source {
            object_store::Error::NotFound { .. } => ReleaseError::FileMissing {
                id: manifest.id,
                sha256: file.sha256,
            },
            source => ReleaseError::Object {
                action: "read",
                path: path.to_string(),
                source,
            },
        };
        let mut chunks = self.storage.store().get(&path).await.map_err(failed)?.into_stream();
        // Errors name the folder, because the temporary file has another name in each attempt.
        let folder = partial.parent().unwrap_or(partial);
        let mut to = std::fs::File::create_new(partial).map_err(local("create a file in", folder))?;
        let mut hasher = Hasher::default();
        while let Some(chunk) = chunks.try_next().await.map_err(failed)? {
            hasher.update(&chunk);
            // A chunk has at most some megabytes and is written to the page cache, which is not worth a separate
            // thread.
            to.write_all(&chunk).map_err(local("write a file in", folder))?;
            if hasher.size_bytes() > file.size_bytes {
                break;
            }
        }
        let (found, size_bytes) = hasher.finish();
        verify(manifest, file, found, size_bytes)?;
        let synced = blocking("sync a file", move || to.sync_all()).await?;
        synced.map_err(local("sync a file in", folder))
    }
}

fn verify(manifest: &Manifest, file: &FileEntry, found: Sha256Hex, size_bytes: u64) -> Result<(), ReleaseError> {
    if (found, size_bytes) == (file.sha256, file.size_bytes) {
        Ok(())
    } else {
        Err(ReleaseError::FileDamaged {
            id: manifest.id,
            sha256: file.sha256,
            found,
            size_bytes,
        })
    }
}

pub(super) async fn hash_local(path: PathBuf) -> Result<(Sha256Hex, u64), ReleaseError> {
    let hashed = blocking("hash a file", {
        let path = path.clone();
        move || digest_of_file(&path)
    });
    hashed.await?.map_err(local("read", &path))
}

pub(super) async fn blocking<T: Send + 'static>(
    action: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ReleaseError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| ReleaseError::Interrupted { action })
}
