use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use data_model::{ReleaseId, Timestamp};
use data_storage::{get_bytes, put_new};
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStoreExt};

use super::cache::age;
use super::{ReleaseStore, manifest_path, storage};
use crate::error::ReleaseError;

/// What a collection of garbage keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GcOptions {
    /// How many releases stay, the current one among them; at least 1.
    pub keep_last: usize,
    /// Nothing younger than this is removed: it may belong to a publication under way. Longer than any takes.
    pub min_age: Duration,
    /// Only tells what would be removed.
    pub dry_run: bool,
}

impl Default for GcOptions {
    fn default() -> Self {
        Self {
            keep_last: 3,
            min_age: Duration::from_secs(24 * 3600),
            dry_run: false,
        }
    }
}

/// What a collection of garbage removed, or would remove.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GcReport {
    /// Releases whose manifests went.
    pub releases: Vec<ReleaseId>,
    /// Files that went.
    pub files: u64,
    /// Their size together.
    pub bytes: u64,
}

impl ReleaseStore {
    /// Removes releases that are neither current nor among the last ones, and files that no remaining release names.
    ///
    /// Manifests go before files, so that no manifest ever names a file that is gone. When anything is in doubt — a
    /// manifest that stays cannot be read — nothing is removed.
    ///
    /// # Errors
    /// The current release's manifest is missing or damaged, or the store failed.
    pub async fn collect(&self, options: &GcOptions) -> Result<GcReport, ReleaseError> {
        let now = self.clock.now();
        let old = |meta: &ObjectMeta| {
            age(Timestamp::from_micros(meta.last_modified.timestamp_micros()), now) >= options.min_age
        };
        let mut report = GcReport::default();
        let manifests = self.list_dir("manifests").await?;
        let kept = self.kept(options, now).await?;
        // Read before anything is removed: a damaged manifest that stays ends the collection.
        let mut named = BTreeSet::new();
        for meta in &manifests {
            let id = manifest_id(&meta.location);
            match id.filter(|id| !kept.contains(id) && old(meta)) {
                Some(id) => report.releases.push(id),
                None => named.extend(self.named_by(id, meta).await?),
            }
        }
        report.releases.sort_unstable();
        if let Some(current) = self.current().await? {
            self.manifest(current.id).await?;
        }
        if !options.dry_run {
            self.remove_manifests(&report.releases).await?;
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

    /// The releases that stay by the log: the last ones, and those that became current lately.
    async fn kept(&self, options: &GcOptions, now: Timestamp) -> Result<BTreeSet<ReleaseId>, ReleaseError> {
        let (mut kept, mut last) = (BTreeSet::new(), BTreeSet::new());
        for (_, event) in self.events().await?.iter().rev() {
            if last.len() < options.keep_last.max(1) {
                last.insert(event.release());
            }
            if last.contains(&event.release()) || age(event.at(), now) < options.min_age {
                kept.insert(event.release());
            }
        }
        Ok(kept)
    }

    /// The names of the files that a manifest which stays names.
    async fn named_by(&self, id: Option<ReleaseId>, meta: &ObjectMeta) -> Result<Vec<String>, ReleaseError> {
        // What is no manifest names nothing.
        let Some(id) = id else { return Ok(Vec::new()) };
        match self.find_manifest(id).await? {
            Some(manifest) => Ok(manifest.files().map(|file| file.sha256.to_string()).collect()),
            None => {
                // It was there a moment ago: another collection is under way.
                tracing::warn!(path = %meta.location, "a manifest vanished during garbage collection");
                Ok(Vec::new())
            }
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

    async fn list_dir(&self, dir: &str) -> Result<Vec<ObjectMeta>, ReleaseError> {
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

fn manifest_id(path: &Path) -> Option<ReleaseId> {
    path.filename()?.strip_suffix(".json")?.parse().ok()
}
