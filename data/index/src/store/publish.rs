use std::path::Path;

use bytes::Bytes;
use data_model::ReleaseId;
use data_storage::{put_new, put_over};

use super::checks::CheckOptions;
use super::fetch::blocking;
use super::{Current, LogEvent, ReleaseStore, checks, manifest_path, storage};
use crate::error::ReleaseError;
use crate::manifest::Manifest;
use crate::release::Release;

/// A release that is to become the current one.
#[derive(Debug)]
pub struct Publication<'a> {
    /// The release.
    pub manifest: &'a Manifest,
    /// Where its new files lie, each named by its SHA-256.
    pub files: &'a Path,
    /// Where the release is fetched to and opened for its checks; a query server's cache will do.
    pub cache: &'a Path,
    /// The number of the event that was the last when the build began ([`Current::seq`]); `None` when there was none.
    pub expected: Option<u64>,
    /// When the release must not be published.
    pub checks: &'a CheckOptions,
}

/// What became of a publication or a roll-back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    /// The release is current now.
    Published(Current),
    /// It was current already: nothing was written.
    Unchanged(Current),
    /// Someone else's event came first: look at what is current now, plan anew.
    Lost(Option<Current>),
}

impl ReleaseStore {
    /// Makes a release current: uploads what the store lacks, fetches the release back with every hash verified,
    /// opens it, runs its checks, writes its manifest, and appends one event if none came since `expected`.
    ///
    /// Whatever fails, and whenever the process dies, readers see the release before or this one.
    ///
    /// # Errors
    /// The release fails its checks or the store failed. After a failed append the release may be current or not:
    /// look before trying again.
    pub async fn publish(&self, publication: Publication<'_>) -> Result<Published, ReleaseError> {
        let Publication {
            manifest,
            files,
            cache,
            expected,
            checks,
        } = publication;
        let id = manifest.id;
        let json = |source| ReleaseError::ManifestNotJson { id, source };
        let content = manifest.content_id().map_err(json)?;
        if content != id {
            let reason = format!("its content is that of {content}");
            return Err(ReleaseError::ManifestDamaged { id, reason });
        }
        let current = self.current().await?;
        if current.map(|current| current.seq) != expected {
            return Ok(Published::Lost(current));
        }
        if let Some(current) = current.filter(|current| current.id == id) {
            return Ok(Published::Unchanged(current));
        }
        self.put_files(manifest, files).await?;
        self.check(manifest, cache, current, checks).await?;
        let bytes = Bytes::from(serde_json::to_vec(manifest).map_err(json)?);
        let path = manifest_path(id);
        let new = put_new(&self.storage, &path, bytes.clone())
            .await
            .map_err(storage("write the manifest"))?;
        // One of this id that is there already says the same, but for when it was built, unless it is damaged.
        if !new && !matches!(self.find_manifest(id).await, Ok(Some(_))) {
            put_over(&self.storage, &path, bytes)
                .await
                .map_err(storage("write the manifest"))?;
        }
        self.append(expected, |at| LogEvent::Publish { release: id, at }).await
    }

    /// Makes an older release current again.
    ///
    /// # Errors
    /// There is no such release any more, one of its files is gone, or the store failed.
    pub async fn rollback(&self, to: ReleaseId) -> Result<Published, ReleaseError> {
        let current = self.current().await?;
        let manifest = self.manifest(to).await?;
        if let Some(current) = current.filter(|current| current.id == to) {
            return Ok(Published::Unchanged(current));
        }
        for file in manifest.files() {
            if !self.has_file(file).await? {
                return Err(ReleaseError::FileMissing {
                    id: to,
                    sha256: file.sha256,
                });
            }
        }
        let expected = current.map(|current| current.seq);
        self.append(expected, |at| LogEvent::Rollback { release: to, at }).await
    }

    async fn append(
        &self,
        expected: Option<u64>,
        event: impl FnOnce(data_model::Timestamp) -> LogEvent,
    ) -> Result<Published, ReleaseError> {
        let (seq, event) = (expected.unwrap_or(0) + 1, event(self.clock.now()));
        if self
            .log
            .append_at(seq, &event)
            .await
            .map_err(storage("append to the release log"))?
        {
            Ok(Published::Published(Current {
                seq,
                id: event.release(),
                published_at: event.at(),
            }))
        } else {
            Ok(Published::Lost(self.current().await?))
        }
    }

    async fn check(
        &self,
        manifest: &Manifest,
        cache: &Path,
        current: Option<Current>,
        options: &CheckOptions,
    ) -> Result<(), ReleaseError> {
        let id = manifest.id;
        let before = match current {
            Some(current) => self.find_manifest(current.id).await?,
            None => None,
        };
        let mut violations = checks::of_counts(manifest, before.as_ref(), options);
        let local = self.fetch(manifest, cache).await?;
        let probes = options.probes;
        let probed = blocking("check the release", move || {
            Release::open(local).map(|release| checks::of_probes(&release, probes))
        });
        violations.extend(probed.await?.map_err(|source| ReleaseError::Open { id, source })?);
        if violations.is_empty() {
            Ok(())
        } else {
            Err(ReleaseError::ChecksFailed { id, violations })
        }
    }
}
