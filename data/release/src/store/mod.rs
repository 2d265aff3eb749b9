mod cache;
mod events;
mod fetch;
mod gc;
mod head;
mod list;
mod mend;
mod publish;
mod refused;
mod remembered;
mod repair;
mod upload;
mod verified;
mod verify;

pub use events::{Current, LogEvent, Pin, PinnedBy};
pub use fetch::FetchReport;
pub use gc::{GcOptions, GcReport};
pub use list::{ListedRelease, Listing, RolledBack, Unreadable};
pub use mend::{LogRepair, MendedObject};
pub use publish::{Publication, Published};
pub use refused::{REASON_BYTES_MAX, Refusal};

use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use data_index::{Manifest, SCHEMA_VERSION, Sha256Hex};
use data_model::{Clock, ReleaseId};
use data_storage::{EventLog, Storage, StorageError, get_bytes};
use object_store::path::Path;

use crate::error::ReleaseError;

/// The releases of one root: `files/{sha256}`, `manifests/{id}.json`, `log/{seq}.json`, `refused.json`.
///
/// * A manifest names only files that exist, complete and verified.
/// * The event with the highest number, or its copy, determines the current release. An event is one conditional put,
///   so that readers see the old release or the new one, never a mixture.
/// * Files and manifests never change, except that [`ReleaseStore::publish`] rewrites damaged ones. Only
///   [`ReleaseStore::collect`] removes them.
#[derive(Debug)]
pub struct ReleaseStore {
    storage: Storage,
    log: EventLog<LogEvent>,
    clock: Arc<dyn Clock>,
    verified: verified::VerifiedFiles,
}

fn storage(action: &'static str) -> impl Fn(StorageError) -> ReleaseError {
    move |source| ReleaseError::Storage { action, source }
}

fn file_path(sha256: Sha256Hex) -> Path {
    Path::from_iter(["files", &sha256.to_string()])
}

fn manifest_path(id: ReleaseId) -> Path {
    Path::from_iter(["manifests", &format!("{id}.json")])
}

fn manifest_id(path: &Path) -> Option<ReleaseId> {
    path.filename()?.strip_suffix(".json")?.parse().ok()
}

impl ReleaseStore {
    /// Creates a store for the releases in `storage`, the root's `releases` folder.
    #[must_use]
    pub fn new(storage: Storage, clock: Arc<dyn Clock>) -> Self {
        let log = EventLog::new(&storage, "log").with_copies();
        Self {
            storage,
            log,
            clock,
            verified: verified::VerifiedFiles::default(),
        }
    }

    /// Returns the current release, or `None` before the first one. If the newest event and its copy are lost, the
    /// manifests and the event before it determine the current release.
    ///
    /// # Errors
    /// The store failed.
    #[boxed]
    pub async fn current(&self) -> Result<Option<Current>, ReleaseError> {
        let newest = self.head().await?;
        Ok(newest.map(|(seq, event)| Current::of(seq, &event)))
    }

    /// Returns the manifest of a release.
    ///
    /// # Errors
    /// The release does not exist, its manifest is damaged, or the store failed.
    #[boxed]
    pub async fn manifest(&self, id: ReleaseId) -> Result<Manifest, ReleaseError> {
        self.find_manifest(id).await?.ok_or(ReleaseError::NoSuchRelease(id))
    }

    async fn find_manifest(&self, id: ReleaseId) -> Result<Option<Manifest>, ReleaseError> {
        let bytes = get_bytes(&self.storage, &manifest_path(id))
            .await
            .map_err(storage("read a manifest"))?;
        bytes.map(|bytes| decode(id, &bytes)).transpose()
    }
}

fn decode(id: ReleaseId, bytes: &[u8]) -> Result<Manifest, ReleaseError> {
    let manifest = serde_json::from_slice(bytes).map_err(|error| ReleaseError::ManifestDamaged {
        id,
        reason: error.to_string(),
    })?;
    genuine(id, manifest)
}

/// Returns the manifest if its content matches its id. A manifest with another schema version cannot be checked, and is
/// never opened.
fn genuine(id: ReleaseId, manifest: Manifest) -> Result<Manifest, ReleaseError> {
    let damaged = |reason: String| ReleaseError::ManifestDamaged { id, reason };
    if manifest.schema_version == SCHEMA_VERSION {
        let content = manifest.content_id().map_err(|error| damaged(error.to_string()))?;
        if manifest.id != id || content != id {
            return Err(damaged(format!("its content has id {content}")));
        }
    }
    Ok(manifest)
}
