use std::collections::BTreeSet;
use std::path::Path;

use async_recursion::async_recursion as boxed;
use bytes::Bytes;
use data_index::{Manifest, Sha256Hex};
use data_model::{ReleaseId, Timestamp};
use data_storage::{StorageError, keep_aside, put_new, put_over};
use futures::future::BoxFuture;

use super::fetch::blocking;
use super::refused::Refusal;
use super::repair::Copies;
use super::{Current, LogEvent, Pin, PinnedBy, ReleaseStore, manifest_path, storage};
use crate::checks::{self, CheckOptions};
use crate::damage::Damage;
use crate::error::ReleaseError;

/// A release to make current.
#[derive(Debug)]
pub struct Publication<'a> {
    /// Manifest of the release.
    pub manifest: &'a Manifest,
    /// Folder of the release's new files, each named by its SHA-256.
    pub files: &'a Path,
    /// Folder to which the release is fetched and from which it is opened for its checks, such as a query server's
    /// cache.
    pub cache: &'a Path,
    /// Number of the last event when the build began ([`Current::seq`]), or `None` without an event.
    pub expected: Option<u64>,
    /// Options of the checks before publishing.
    pub checks: &'a CheckOptions,
}

/// Outcome of a publication or a rollback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    /// The release is current now.
    Published(Current),
    /// The release was current already. Only damaged files were rewritten.
    Unchanged(Current),
    /// Another event was appended first. The caller must read the current release and plan again.
    Lost(Option<Current>),
    /// Another release is pinned, so no file was written: see [`ReleaseStore::pin`] and [`CheckOptions::despite_pin`].
    Pinned(Current),
}

impl ReleaseStore {
    /// Makes a release current. Uploads the files that the store lacks, fetches the release back with every hash
    /// verified (see [`ReleaseStore::fetch`]), opens the release, and runs its checks. Finally writes its manifest, and
    /// appends one event if no other event was appended since `expected`.
    ///
    /// Missing or damaged files in the store are replaced by intact copies from the build or the cache, even if the
    /// release is already current. A damaged manifest is replaced too.
    ///
    /// After a failure or a crash at any time, readers see either the previous release or the new release.
    ///
    /// # Errors
    /// The release fails its checks, a file is damaged without an intact copy, or the store failed. Only after
    /// [`ReleaseError::Unknown`] may the release be current: check before trying again.
    #[tracing::instrument(target = "trace::release", name = "release publish", level = "info", skip_all, fields(release = %publication.manifest.id))]
    pub fn publish<'a>(&'a self, publication: Publication<'a>) -> BoxFuture<'a, Result<Published, ReleaseError>> {
        Box::pin(self.publish_checked(publication))
    }

    async fn publish_checked(&self, publication: Publication<'_>) -> Result<Published, ReleaseError> {
        let manifest = publication.manifest;
        let published = self.try_publish(publication).await;
        match &published {
            Ok(Published::Published(_) | Published::Unchanged(_)) => self.forget_refusal().await,
            // The release was neither published nor refused, or the result is unknown, so the refusal record stays.
            Ok(Published::Lost(_) | Published::Pinned(_)) | Err(ReleaseError::Unknown { .. }) => {}
            Err(error) => {
                let refusal = Refusal::of_error(self.clock.now(), error).of_manifest(manifest);
                self.record_refusal(refusal).await;
            }
        }
        published
    }

    async fn try_publish(&self, publication: Publication<'_>) -> Result<Published, ReleaseError> {
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
            let reason = format!("its content has id {content}");
            return Err(ReleaseError::ManifestDamaged { id, reason });
        }
        let current = self.current().await?;
        if current.map(|current| current.seq) != expected {
            return Ok(Published::Lost(current));
        }
        if let Some(current) = current
            && current.pinned.is_some()
            && current.id != id
            && !checks.despite_pin
        {
            return Ok(Published::Pinned(current));
        }
        let copies = Copies { built: files, cache };
        let uploaded = self.secure_files(manifest, copies).await?;
        if let Some(current) = current.filter(|current| current.id == id) {
            self.read_back(manifest, &uploaded).await?;
            self.write_manifest(manifest).await?;
            return Ok(Published::Unchanged(current));
        }
        self.check(manifest, copies, &uploaded, current, checks).await?;
        self.write_manifest(manifest).await?;
        self.append(expected, |at| LogEvent::Publish { release: id, at }).await
    }

    async fn read_back(&self, manifest: &Manifest, uploaded: &BTreeSet<Sha256Hex>) -> Result<(), ReleaseError> {
        let mut damage = Vec::new();
        for file in manifest.files().filter(|file| uploaded.contains(&file.sha256)) {
            let kind = self.damage_of(file).await?;
            damage.extend(kind.map(|kind| Damage::new(manifest, file, kind)));
        }
        if damage.is_empty() {
            Ok(())
        } else {
            let id = manifest.id;
            Err(ReleaseError::Damaged { id, damage })
        }
    }

    /// Writes a manifest unless it exists. Manifests with the same id differ only in the build time and the lake
    /// versions.
    async fn write_manifest(&self, manifest: &Manifest) -> Result<(), ReleaseError> {
        let id = manifest.id;
        let json = |source| ReleaseError::ManifestNotJson { id, source };
        let bytes = Bytes::from(serde_json::to_vec(manifest).map_err(json)?);
        let path = manifest_path(id);
        // The stored manifest counts, whichever process wrote it, and even if the response was lost.
        let new = matches!(put_new(&self.storage, &path, bytes.clone()).await, Ok(true));
        if !new && !matches!(self.find_manifest(id).await, Ok(Some(_))) {
            let aside = keep_aside(&self.storage, &path).await;
            aside.map_err(storage("keep a damaged manifest"))?;
            put_over(&self.storage, &path, bytes)
                .await
                .map_err(storage("write the manifest"))?;
        }
        Ok(())
    }

    /// Makes an older release current again. A pin moves to the older release. Does nothing if the release is current
    /// already.
    ///
    /// # Errors
    /// The release no longer exists, one of its files is missing or damaged (every file is read), or the store failed.
    /// Only after [`ReleaseError::Unknown`] may the release be current nevertheless.
    #[boxed]
    pub async fn rollback(&self, to: ReleaseId) -> Result<Published, ReleaseError> {
        self.go_to(to, None).await
    }

    /// Pins a release and makes it current. No build on any machine publishes over the release until it is unpinned, or
    /// until a publication sets [`CheckOptions::despite_pin`].
    ///
    /// # Errors
    /// The errors of [`ReleaseStore::rollback`]. The files of a release that is already current are not read.
    #[boxed]
    pub async fn pin(&self, id: ReleaseId, by: PinnedBy) -> Result<Published, ReleaseError> {
        self.go_to(id, Some(by)).await
    }

    /// Removes the pin of the current release, which stays current.
    ///
    /// # Errors
    /// There is no release, or the store failed. Only after [`ReleaseError::Unknown`] may the pin be removed
    /// nevertheless.
    #[boxed]
    pub async fn unpin(&self) -> Result<Published, ReleaseError> {
        let current = self.current().await?.ok_or(ReleaseError::NoRelease)?;
        let (release, published_at) = (current.id, current.published_at);
        if current.pinned.is_none() {
            return Ok(Published::Unchanged(current));
        }
        let unpin = |at| LogEvent::Unpin {
            release,
            at,
            published_at,
        };
        self.append(Some(current.seq), unpin).await
    }

    async fn go_to(&self, to: ReleaseId, pin: Option<PinnedBy>) -> Result<Published, ReleaseError> {
        let current = self.current().await?;
        let pinned = current.and_then(|current| current.pinned);
        let stays = current.filter(|current| current.id == to);
        if let Some(current) = stays.filter(|_| pin.is_none() || pinned.is_some()) {
            return Ok(Published::Unchanged(current));
        }
        if stays.is_none() {
            let manifest = self.manifest(to).await?;
            let damage = self.verify(&manifest).await?;
            if !damage.is_empty() {
                return Err(ReleaseError::Damaged { id: to, damage });
            }
        }
        let since = stays.map(|current| current.published_at);
        let event = |at| made_current(to, at, since, pinned.or(pin.map(|by| Pin { since: at, by })));
        let published = self.append(current.map(|current| current.seq), event).await?;
        if let (Published::Published(now), Some(before), None) = (&published, current, stays)
            && self.find_manifest(to).await?.is_none()
        {
            // A garbage collection that began earlier removed the manifest.
            let back = |at| made_current(before.id, at, None, before.pinned);
            self.append(Some(now.seq), back).await?;
            return Err(ReleaseError::NoSuchRelease(to));
        }
        Ok(published)
    }

    async fn append(
        &self,
        expected: Option<u64>,
        event: impl FnOnce(Timestamp) -> LogEvent,
    ) -> Result<Published, ReleaseError> {
        let before = match expected {
            Some(seq) => seq,
            None => self.nameless_head().await?.unwrap_or(0),
        };
        let (seq, event) = (before + 1, event(self.clock.now()));
        match self.log.append_at(seq, &event).await {
            Ok(true) => Ok(Published::Published(Current::of(seq, &event))),
            Ok(false) => Ok(Published::Lost(self.current().await?)),
            Err(source @ StorageError::AppendUnknown { .. }) => Err(ReleaseError::Unknown {
                id: event.release(),
                source,
            }),
            Err(error) => Err(storage("append to the release log")(error)),
        }
    }

    async fn check(
        &self,
        manifest: &Manifest,
        copies: Copies<'_>,
        uploaded: &BTreeSet<Sha256Hex>,
        current: Option<Current>,
        options: &CheckOptions,
    ) -> Result<(), ReleaseError> {
        let id = manifest.id;
        let before = match current {
            Some(current) => self.last_readable(current.id).await?,
            None => None,
        };
        let mut violations = checks::of_counts(manifest, before.as_ref(), options);
        let local = self.fetch_repairing(manifest, copies, uploaded).await?;
        let probes = options.probes;
        let probed = blocking("check the release", move || {
            local.open().map(|release| checks::of_probes(&release, probes))
        });
        violations.extend(probed.await?.map_err(|source| ReleaseError::Open { id, source })?);
        if violations.is_empty() {
            Ok(())
        } else {
            Err(ReleaseError::ChecksFailed { id, violations })
        }
    }

    /// Returns the current release's manifest. If it is damaged or missing, returns the last readable one before it, so
    /// that publishing remains possible and is still checked for a collapse. The manifest is missing if a rollback died
    /// before it noticed that a garbage collection had removed its target.
    ///
    /// # Errors
    /// The store failed.
    #[boxed]
    pub async fn last_readable(&self, current: ReleaseId) -> Result<Option<Manifest>, ReleaseError> {
        match self.find_manifest(current).await {
            Ok(Some(manifest)) => return Ok(Some(manifest)),
            Ok(None) => {
                tracing::warn!(release = %current, "the current release has no manifest; an older release is used instead");
            }
            Err(error @ ReleaseError::ManifestDamaged { .. }) => {
                tracing::warn!(%error, "the current release's manifest is damaged; an older release is used instead");
            }
            Err(error) => return Err(error),
        }
        let mut seen = BTreeSet::from([current]);
        for (_, event) in self.events().await?.read.into_iter().rev() {
            if seen.insert(event.release())
                && let Ok(Some(manifest)) = self.find_manifest(event.release()).await
            {
                return Ok(Some(manifest));
            }
        }
        Ok(None)
    }
}

/// The release stays current since `since`, if given.
fn made_current(release: ReleaseId, at: Timestamp, since: Option<Timestamp>, pin: Option<Pin>) -> LogEvent {
    match pin {
        Some(pin) => LogEvent::Pin {
            release,
            at,
            published_at: since.unwrap_or(at),
            pin,
        },
        None => LogEvent::Rollback { release, at },
    }
}
