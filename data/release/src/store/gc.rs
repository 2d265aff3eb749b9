use std::collections::BTreeSet;
use std::time::Duration;

use async_recursion::async_recursion as boxed;
use bytes::Bytes;
use data_model::{ReleaseId, Timestamp};
use data_storage::{get_bytes, put_new};
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStoreExt};

use super::cache::age;
use super::list::Events;
use super::{LogEvent, ReleaseStore, Unreadable, manifest_id, manifest_path, storage};
use crate::error::ReleaseError;

/// Limits of a garbage collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GcOptions {
    /// Number of releases to keep, at least 1. The current one counts.
    pub keep_last: usize,
    /// Minimum age of objects to remove. It must be longer than any publication takes, because younger objects may
    /// belong to a publication in progress.
    pub min_age: Duration,
    /// `true` to also remove damaged manifests and damaged log entries of any age, which gives up their releases. The
    /// current release's manifest and the newest log entry are never removed.
    pub drop_damaged: bool,
    /// `true` to only report the objects to remove.
    pub dry_run: bool,
}

impl Default for GcOptions {
    fn default() -> Self {
        Self {
            keep_last: 3,
            min_age: Duration::from_secs(24 * 3600),
            drop_damaged: false,
            dry_run: false,
        }
    }
}

/// Result of a garbage collection, or of a dry run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GcReport {
    /// Releases whose manifests were removed.
    pub releases: Vec<ReleaseId>,
    /// Number of files that were removed.
    pub files: u64,
    /// Total size of the removed files, in bytes.
    pub bytes: u64,
    /// Damaged manifests and log entries that were removed because of [`GcOptions::drop_damaged`].
    pub dropped: Vec<Unreadable>,
    /// Damaged manifests and log entries that were not removed. They can prevent the removal of files or releases: see
    /// [`ReleaseStore::collect`].
    pub unreadable: Vec<Unreadable>,
    /// `true` if a manifest or a log entry cannot be read, so that files or releases were retained.
    pub held: bool,
}

struct KeptReleases {
    releases: BTreeSet<ReleaseId>,
    /// `true` if a damaged log entry may have made one of the last releases current.
    in_doubt: bool,
}

impl ReleaseStore {
    /// Removes releases that are neither current nor among the last ones, and files that no remaining release names. A
    /// pinned release is the current one.
    ///
    /// Manifests are removed first, so that no manifest ever names a missing file. Unreadable objects count as needed:
    /// * While a remaining manifest is damaged, no file is removed, because its files are unknown. It does not count as
    ///   one of the last releases, and is removed once enough newer manifests are readable.
    /// * While a damaged log entry may belong to one of the last releases, all releases are retained.
    ///
    /// [`GcOptions::drop_damaged`] removes both kinds of damaged objects.
    ///
    /// # Errors
    /// The current release's manifest is missing or damaged, or the store failed.
    #[boxed]
    pub async fn collect(&self, options: &GcOptions) -> Result<GcReport, ReleaseError> {
        let now = self.clock.now();
        let old = |meta: &ObjectMeta| {
            age(Timestamp::from_micros(meta.last_modified.timestamp_micros()), now) >= options.min_age
        };
        let current = self.current().await?;
        if let Some(current) = current {
            self.manifest(current.id).await?;
        }
        let mut report = GcReport::default();
        let manifests = self.list_dir("manifests").await?;
        let kept = self.kept(options, now, &mut report).await?;
        // All manifests are read before anything is removed.
        let (mut named, mut damaged, mut dropped) = (BTreeSet::new(), false, Vec::new());
        for meta in &manifests {
            let Some(id) = manifest_id(&meta.location) else {
                continue;
            };
            if !kept.releases.contains(&id) && old(meta) && !kept.in_doubt {
                report.releases.push(id);
                continue;
            }
            match self.named_by(id, meta).await? {
                Ok(files) => named.extend(files),
                Err(unreadable) if options.drop_damaged && !kept.in_doubt => {
                    report.dropped.push(unreadable);
                    dropped.push(id);
                }
                Err(unreadable) => {
                    report.unreadable.push(unreadable);
                    damaged = true;
                }
            }
        }
        report.releases.sort_unstable();
        report.held = kept.in_doubt || damaged;
        if !options.dry_run {
            dropped.extend(&report.releases);
            self.remove_manifests(&dropped).await?;
        }
        if !options.dry_run && !report.held && report.unreadable.is_empty() {
            self.cut_log(&kept.releases).await?;
        }
        // If only log entries are damaged, all manifests were retained, so that files without a manifest are not
        // needed.
        if damaged {
            return Ok(report);
        }
        for meta in self.list_dir("files").await? {
            let needed = meta.location.filename().is_none_or(|name| named.contains(name));
            if needed || !old(&meta) {
                continue;
            }
            report.files += 1;
            report.bytes += meta.size;
            if !options.dry_run {
                self.remove(&meta.location).await?;
            }
        }
        Ok(report)
    }

    /// Returns the releases to keep according to the log: the last readable ones, and those that became current
    /// recently. Removes damaged log entries if requested.
    async fn kept(
        &self,
        options: &GcOptions,
        now: Timestamp,
        report: &mut GcReport,
    ) -> Result<KeptReleases, ReleaseError> {
        let Events { read, damaged } = self.events().await?;
        let keep_last = options.keep_last.max(1);
        let (mut releases, mut last) = (BTreeSet::new(), BTreeSet::new());
        // Only a damaged entry that precedes an event from `counts_from` on matters. The list of last releases may then
        // be incomplete, or the entry may be younger than `min_age`.
        let mut counts_from = u64::MAX;
        for (seq, event) in read.iter().rev() {
            let id = event.release();
            let young = age(event.at(), now) < options.min_age;
            let room = last.len() < keep_last;
            if room || young || last.contains(&id) {
                releases.insert(id);
            }
            // A rollback to a release with an unreadable manifest is not possible, so that it does not count towards
            // `keep_last`.
            if room && self.is_readable(id).await? {
                last.insert(id);
            }
            if young || last.len() < keep_last {
                counts_from = *seq;
            }
        }
        let mut in_doubt = false;
        for (seq, entry) in damaged {
            // The newest entry may have made any release current.
            let is_newest = read.iter().all(|(other, _)| *other <= seq);
            if options.drop_damaged && !is_newest {
                let gone = options.dry_run || self.log.remove_damaged(seq).await.map_err(storage("repair the log"))?;
                report.dropped.extend(Some(entry).filter(|_| gone));
                continue;
            }
            let newer = read.iter().find(|(newer, _)| *newer > seq);
            in_doubt |= newer.is_none_or(|(newer, _)| *newer >= counts_from);
            report.unreadable.push(entry);
        }
        Ok(KeptReleases { releases, in_doubt })
    }

    /// Removes log events that are older than all retained releases. The log retains the event that last published each
    /// of them, and all later events, which rollbacks follow.
    async fn cut_log(&self, kept: &BTreeSet<ReleaseId>) -> Result<(), ReleaseError> {
        let Events { read, .. } = self.events().await?;
        let mut first = read.last().map_or(0, |(seq, _)| *seq);
        for id in kept {
            let of = |event: &LogEvent| event.release() == *id;
            let is_publish = |event: &LogEvent| of(event) && matches!(event, LogEvent::Publish { .. });
            let published = read.iter().rfind(|(_, event)| is_publish(event));
            // The release was published before the log was last truncated.
            let named = published.or_else(|| read.iter().find(|(_, event)| of(event)));
            first = named.map_or(first, |(seq, _)| first.min(*seq));
        }
        self.log
            .forget_below(first)
            .await
            .map_err(storage("truncate the release log"))
    }

    /// A collected manifest is readable too.
    async fn is_readable(&self, id: ReleaseId) -> Result<bool, ReleaseError> {
        match self.find_manifest(id).await {
            Ok(_) => Ok(true),
            Err(ReleaseError::ManifestDamaged { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn named_by(
        &self,
        id: ReleaseId,
        meta: &ObjectMeta,
    ) -> Result<Result<Vec<String>, Unreadable>, ReleaseError> {
        match self.find_manifest(id).await {
            Ok(Some(manifest)) => Ok(Ok(manifest.files().map(|file| file.sha256.to_string()).collect())),
            Ok(None) => {
                // The manifest existed a moment ago, so another collection is running.
                tracing::warn!(path = %meta.location, "a manifest disappeared during garbage collection");
                Ok(Ok(Vec::new()))
            }
            Err(ReleaseError::ManifestDamaged { reason, .. }) => Ok(Err(Unreadable::manifest(id, reason))),
            Err(error) => Err(error),
        }
    }

    /// Removes manifests. If a rollback meanwhile made one of these releases current, restores all of them.
    async fn remove_manifests(&self, ids: &[ReleaseId]) -> Result<(), ReleaseError> {
        let mut removed: Vec<(ReleaseId, Bytes)> = Vec::new();
        for id in ids {
            let path = manifest_path(*id);
            let bytes = get_bytes(&self.storage, &path)
                .await
                .map_err(storage("read a manifest"))?;
            removed.extend(bytes.map(|bytes| (*id, bytes)));
            self.remove(&path).await?;
        }
        let current = self.current().await?;
        if !current.is_some_and(|current| ids.contains(&current.id)) {
            return Ok(());
        }
        for (id, bytes) in removed {
            put_new(&self.storage, &manifest_path(id), bytes)
                .await
                .map_err(storage("restore a manifest"))?;
        }
        let id = current.map_or(ReleaseId::from_digest([0; 8]), |current| current.id);
        Err(ReleaseError::CollectedWhileCurrent(id))
    }

    async fn remove(&self, path: &Path) -> Result<(), ReleaseError> {
        match self.storage.store().delete(path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(source) => Err(ReleaseError::Object {
                action: "remove",
                path: path.to_string(),
                source,
            }),
        }
    }

    pub(super) async fn list_dir(&self, dir: &str) -> Result<Vec<ObjectMeta>, ReleaseError> {
        let failed = |source| ReleaseError::Object {
            action: "list",
            path: dir.to_owned(),
            source,
        };
        self.storage
            .store()
            .list(Some(&Path::from(dir)))
            .try_collect()
            .await
            .map_err(failed)
    }
}
