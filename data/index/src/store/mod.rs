mod cache;
mod checks;
mod damage;
mod fetch;
mod gc;
mod publish;
mod repair;
mod upload;
mod verified;

pub use cache::LocalRelease;
pub(crate) use checks::text as violations_text;
pub use checks::{CheckOptions, Violation};
pub(crate) use damage::text as damage_text;
pub use damage::{Damage, DamageKind};
pub use fetch::FetchReport;
pub use gc::{GcOptions, GcReport};
pub use publish::{Publication, Published};

use std::collections::BTreeSet;
use std::sync::Arc;

use data_model::{Clock, ReleaseId, Timestamp};
use data_storage::{EventLog, Storage, StorageError, get_bytes};
use object_store::path::Path;
use serde::{Deserialize, Serialize};

use crate::digest::Sha256Hex;
use crate::error::ReleaseError;
use crate::manifest::{Counts, Manifest, SCHEMA_VERSION};

/// The releases of one root: `files/{sha256}`, `manifests/{id}.json`, `log/{seq}.json`.
///
/// * A manifest names only files that are there, whole and verified.
/// * The event with the highest number tells the current release; an event is one conditional put, so that readers
///   see the old release or the new one, never half.
/// * Files and manifests never change, unless they are damaged: then [`ReleaseStore::publish`] writes them anew.
///   Only [`ReleaseStore::collect`] removes any.
#[derive(Debug)]
pub struct ReleaseStore {
    storage: Storage,
    log: EventLog<LogEvent>,
    clock: Arc<dyn Clock>,
    verified: verified::Verified,
}

/// What became the current release, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum LogEvent {
    /// A new release was published.
    Publish {
        /// The release.
        release: ReleaseId,
        /// When.
        at: Timestamp,
    },
    /// An older release was made current again.
    Rollback {
        /// The release.
        release: ReleaseId,
        /// When.
        at: Timestamp,
    },
}

impl LogEvent {
    /// The release that the event made current.
    #[must_use]
    pub const fn release(&self) -> ReleaseId {
        match self {
            Self::Publish { release, .. } | Self::Rollback { release, .. } => *release,
        }
    }

    /// When it did.
    #[must_use]
    pub const fn at(&self) -> Timestamp {
        match self {
            Self::Publish { at, .. } | Self::Rollback { at, .. } => *at,
        }
    }
}

/// The current release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Current {
    /// The number of the event that made it current: what [`Publication::expected`] takes.
    pub seq: u64,
    /// The release.
    pub id: ReleaseId,
    /// When it became current.
    pub published_at: Timestamp,
}

/// A release that can be fetched or rolled back to.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedRelease {
    /// The release.
    pub id: ReleaseId,
    /// When it last became current.
    pub published_at: Timestamp,
    /// When it was built.
    pub built_at: Timestamp,
    /// Whether it is the current one.
    pub current: bool,
    /// What it holds.
    pub counts: Counts,
    /// Number of its parts.
    pub parts: usize,
    /// Its files together, each content once.
    pub size_bytes: u64,
}

pub(crate) fn storage(action: &'static str) -> impl Fn(StorageError) -> ReleaseError {
    move |source| ReleaseError::Storage { action, source }
}

pub(crate) fn file_path(sha256: Sha256Hex) -> Path {
    Path::from_iter(["files", &sha256.to_string()])
}

pub(crate) fn manifest_path(id: ReleaseId) -> Path {
    Path::from_iter(["manifests", &format!("{id}.json")])
}

impl ReleaseStore {
    /// The releases under `storage`, which is the root's `releases` child.
    #[must_use]
    pub fn new(storage: Storage, clock: Arc<dyn Clock>) -> Self {
        let log = EventLog::new(&storage, "log");
        Self {
            storage,
            log,
            clock,
            verified: verified::Verified::default(),
        }
    }

    /// The current release; `None` before the first.
    ///
    /// # Errors
    /// The store failed.
    pub async fn current(&self) -> Result<Option<Current>, ReleaseError> {
        let latest = self.log.latest().await.map_err(storage("read the release log"))?;
        Ok(latest.map(|(seq, event)| Current {
            seq,
            id: event.release(),
            published_at: event.at(),
        }))
    }

    /// What a release is made of.
    ///
    /// # Errors
    /// There is no such release, its manifest is damaged, or the store failed.
    pub async fn manifest(&self, id: ReleaseId) -> Result<Manifest, ReleaseError> {
        self.find_manifest(id).await?.ok_or(ReleaseError::NoSuchRelease(id))
    }

    pub(crate) async fn find_manifest(&self, id: ReleaseId) -> Result<Option<Manifest>, ReleaseError> {
        let bytes = get_bytes(&self.storage, &manifest_path(id))
            .await
            .map_err(storage("read a manifest"))?;
        bytes.map(|bytes| decode(id, &bytes)).transpose()
    }

    /// The releases that can be fetched, the one that last became current first.
    ///
    /// # Errors
    /// A manifest is damaged or the store failed.
    pub async fn list(&self) -> Result<Vec<ListedRelease>, ReleaseError> {
        let events = self.events().await?;
        let current = events.last().map(|(seq, _)| *seq);
        let (mut seen, mut listed) = (BTreeSet::new(), Vec::new());
        for (seq, event) in events.into_iter().rev() {
            let id = event.release();
            if !seen.insert(id) {
                continue;
            }
            // Releases whose manifest was collected are history.
            let Some(manifest) = self.find_manifest(id).await? else {
                continue;
            };
            let files: BTreeSet<_> = manifest.files().map(|file| (file.sha256, file.size_bytes)).collect();
            listed.push(ListedRelease {
                id,
                published_at: event.at(),
                built_at: manifest.built_at,
                current: current == Some(seq),
                parts: manifest.parts.len(),
                size_bytes: files.iter().map(|(_, size)| size).sum(),
                counts: manifest.counts,
            });
        }
        Ok(listed)
    }

    pub(crate) async fn events(&self) -> Result<Vec<(u64, LogEvent)>, ReleaseError> {
        self.log.read_from(0).await.map_err(storage("read the release log"))
    }
}

fn decode(id: ReleaseId, bytes: &[u8]) -> Result<Manifest, ReleaseError> {
    let damaged = |reason: String| ReleaseError::ManifestDamaged { id, reason };
    let manifest: Manifest = serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
    if manifest.schema_version == SCHEMA_VERSION {
        let content = manifest.content_id().map_err(|error| damaged(error.to_string()))?;
        if manifest.id != id || content != id {
            return Err(damaged(format!("its content is that of {content}")));
        }
    }
    Ok(manifest)
}
