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

/// The bounds of a collection of garbage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GcOptions {
    /// The number of releases that stay, the current one among them; at least 1.
    pub keep_last: usize,
    /// Nothing younger than this is removed: it may belong to a publication under way. Longer than any takes.
    pub min_age: Duration,
    /// Removes damaged manifests too, but for the current release's, and damaged entries of the log, but for the
    /// newest, whatever their age: what they stand for is given up.
    pub drop_damaged: bool,
    /// Only tells what would be removed.
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

/// The result of a collection of garbage, or of a dry run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GcReport {
    /// Releases whose manifests went.
    pub releases: Vec<ReleaseId>,
    /// Files that went.
    pub files: u64,
    /// Their size together.
    pub bytes: u64,
    /// Damaged manifests and entries of the log that went, as asked with [`GcOptions::drop_damaged`].
    pub dropped: Vec<Unreadable>,
    /// Damaged manifests and entries of the log that stay. While a manifest is among them that counts, no file is
    /// removed; while an entry is among them that counts, no release is: see [`ReleaseStore::collect`].
    pub unreadable: Vec<Unreadable>,
    /// True where files, or releases too, were left alone because something cannot be read.
    pub held: bool,
}

/// The releases that stay by the log.
struct KeptReleases {
    releases: BTreeSet<ReleaseId>,
    /// A damaged entry may have made one of the last releases current.
    in_doubt: bool,
}

impl ReleaseStore {
    /// Removes releases that are neither current nor among the last ones, and files that no remaining release names.
    /// A pinned release is the current one.
    ///
    /// Manifests go before files, so that no manifest ever names a file that is gone. What cannot be read counts as
    /// needed:
    /// * while a manifest that stays is damaged, no file is removed, for nobody knows which ones it names. It does not
    ///   count as one of the last releases, and goes when as many newer ones as are kept can be read;
    /// * while an entry of the log is damaged that may stand for one of the last releases, all releases stay.
    ///
    /// [`GcOptions::drop_damaged`] gives up both.
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
        // All are read before anything is removed.
        let (mut named, mut damaged, mut dropped) = (BTreeSet::new(), false, Vec::new());
        for meta in &manifests {
            // A file that is no manifest names nothing.
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
        // In doubt every manifest stays: what none of them names is not needed.
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

    /// The releases that stay by the log: the last ones that can be read, and those that became current lately. Damaged
    /// entries go, where that is asked for.
    async fn kept(
        &self,
        options: &GcOptions,
        now: Timestamp,
        report: &mut GcReport,
    ) -> Result<KeptReleases, ReleaseError> {
        let Events { read, damaged } = self.events().await?;
        let keep_last = options.keep_last.max(1);
        let (mut releases, mut last) = (BTreeSet::new(), BTreeSet::new());
        // An entry that is damaged counts where it follows an event of this number or above: the last releases are not
        // complete there, or it may be young.
        let mut counts_from = u64::MAX;
        for (seq, event) in read.iter().rev() {
            let id = event.release();
            let young = age(event.at(), now) < options.min_age;
            let room = last.len() < keep_last;
            if room || young || last.contains(&id) {
                releases.insert(id);
            }
            // One that nobody can go back to does not take the place of one that somebody can.
            if room && self.is_readable(id).await? {
                last.insert(id);
            }
            if young || last.len() < keep_last {
                counts_from = *seq;
            }
        }
        let mut in_doubt = false;
        for (seq, entry) in damaged {
            // The newest may have made any release current.
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

    /// Forgets the events of before all releases that stay: nobody can go back to what these name. Each release that stays
    /// keeps the event that last published it and all that came after, which is what roll-backs follow.
    async fn cut_log(&self, kept: &BTreeSet<ReleaseId>) -> Result<(), ReleaseError> {
        let Events { read, .. } = self.events().await?;
        let mut first = read.last().map_or(0, |(seq, _)| *seq);
        for id in kept {
            let of = |event: &LogEvent| event.release() == *id;
            let is_publish = |event: &LogEvent| of(event) && matches!(event, LogEvent::Publish { .. });
            let published = read.iter().rfind(|(_, event)| is_publish(event));
            // One that was published before the log was cut for the last time.
            let named = published.or_else(|| read.iter().find(|(_, event)| of(event)));
            first = named.map_or(first, |(seq, _)| first.min(*seq));
        }
        self.log
            .forget_below(first)
            .await
            .map_err(storage("cut the release log"))
    }

    /// True where a release's manifest is not damaged; one that was collected is not.
    async fn is_readable(&self, id: ReleaseId) -> Result<bool, ReleaseError> {
        match self.find_manifest(id).await {
            Ok(_) => Ok(true),
            Err(ReleaseError::ManifestDamaged { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The names of the files that a manifest which stays names, or why nobody knows them.
    async fn named_by(
        &self,
        id: ReleaseId,
        meta: &ObjectMeta,
    ) -> Result<Result<Vec<String>, Unreadable>, ReleaseError> {
        match self.find_manifest(id).await {
            Ok(Some(manifest)) => Ok(Ok(manifest.files().map(|file| file.sha256.to_string()).collect())),
            Ok(None) => {
                // It was there a moment ago: another collection is under way.
                tracing::warn!(path = %meta.location, "a manifest vanished during garbage collection");
                Ok(Ok(Vec::new()))
            }
            Err(ReleaseError::ManifestDamaged { reason, .. }) => Ok(Err(Unreadable::manifest(id, reason))),
            Err(error) => Err(error),
        }
    }

    /// Removes manifests, unless a roll-back has made one current meanwhile: then all come back.
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
