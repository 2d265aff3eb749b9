use std::collections::BTreeMap;
use std::error::Error;

use async_recursion::async_recursion as boxed;
use data_index::{Counts, Manifest};
use data_model::{ReleaseId, Timestamp};
use data_storage::{StorageError, get_bytes, put_over};
use object_store::ObjectStoreExt;
use object_store::path::Path;
use serde::{Deserialize, Serialize};

use super::{ReleaseStore, storage};
use crate::error::ReleaseError;

/// The last build that was refused or failed, if no build has succeeded since. Its record is `refused.json`, next to
/// the log.
///
/// While the record exists, the current release is older than the lake. A build that publishes, or that finds the
/// current release up to date with the lake, removes the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// Time at which the build ended.
    pub at: Timestamp,
    /// Reason with its causes, in one line of at most [`REASON_BYTES_MAX`] bytes.
    pub reason: String,
    /// Release that was refused. `None` if the build failed before it had one.
    #[serde(default)]
    pub release: Option<ReleaseId>,
    /// Totals of the refused release, if they are known.
    #[serde(default)]
    pub counts: Option<Counts>,
    /// Current release at that time. `None` if there was none or it is unknown.
    #[serde(default)]
    pub current: Option<ReleaseId>,
    /// Totals of the current release, if they are known.
    #[serde(default)]
    pub current_counts: Option<Counts>,
    /// Lake tables and their versions that the build read. Empty if the build failed before reading them.
    #[serde(default)]
    pub lake: BTreeMap<String, u64>,
}

/// Maximum number of bytes of a reason. Longer reasons are truncated.
pub const REASON_BYTES_MAX: usize = 2_000;
const REFUSAL_BYTES_MAX: usize = 1 << 20;

impl Refusal {
    pub(super) fn of_error(at: Timestamp, error: &(dyn Error + 'static)) -> Self {
        Self {
            at,
            reason: reason(error),
            release: None,
            counts: None,
            current: None,
            current_counts: None,
            lake: BTreeMap::new(),
        }
    }

    pub(super) fn of_manifest(mut self, manifest: &Manifest) -> Self {
        self.release = Some(manifest.id);
        self.counts = Some(manifest.counts.clone());
        self.lake.clone_from(&manifest.lake);
        self
    }
}

/// Returns the error and its causes in one line, without repeated causes.
fn reason(error: &(dyn Error + 'static)) -> String {
    let mut line = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        if !line.contains(&text) {
            line.push_str(if line.is_empty() { "" } else { ": " });
            line.push_str(&text);
        }
        next = error.source();
    }
    line.truncate(line.floor_char_boundary(REASON_BYTES_MAX));
    line
}

pub(super) fn path() -> Path {
    Path::from("refused.json")
}

impl ReleaseStore {
    /// Returns the last build that was refused or failed. Returns `None` if the last build succeeded, or there was
    /// none.
    ///
    /// # Errors
    /// The store failed, or the record is damaged.
    #[boxed]
    pub async fn refused(&self) -> Result<Option<Refusal>, ReleaseError> {
        const ACTION: &str = "read why the last build was refused";
        let bytes = get_bytes(&self.storage, &path()).await.map_err(storage(ACTION))?;
        let Some(bytes) = bytes else { return Ok(None) };
        let bytes = bytes.get(..REFUSAL_BYTES_MAX).unwrap_or(&bytes);
        let path = path().to_string();
        let damaged = |source| storage(ACTION)(StorageError::DecodeEvent { path, source });
        serde_json::from_slice(bytes).map(Some).map_err(damaged)
    }

    /// Records that a build failed before it had a release to publish: see [`Refusal`]. Errors of the recording are
    /// only logged, so that they do not hide why the build failed.
    #[boxed]
    pub async fn record_failure(&self, error: &(dyn Error + Send + Sync + 'static)) {
        let refusal = Refusal::of_error(self.clock.now(), error);
        self.record_refusal(refusal).await;
    }

    pub(super) async fn record_refusal(&self, mut refusal: Refusal) {
        const ACTION: &str = "record why the build was refused";
        if let Ok(Some(current)) = self.current().await {
            refusal.current = Some(current.id);
            let manifest = self.find_manifest(current.id).await.ok().flatten();
            refusal.current_counts = manifest.map(|manifest| manifest.counts);
        }
        let recorded = match serde_json::to_vec(&refusal) {
            Ok(json) => put_over(&self.storage, &path(), json).await.map_err(storage(ACTION)),
            Err(source) => {
                let path = path().to_string();
                Err(storage(ACTION)(StorageError::EncodeEvent { path, source }))
            }
        };
        if let Err(error) = recorded {
            tracing::warn!(error = &error as &dyn Error, "a refused build could not be recorded");
        }
    }

    /// Removes the record of a refused build. Errors are only logged.
    pub(super) async fn forget_refusal(&self) {
        let path = path();
        // Most builds follow a successful one, and a check for the record changes nothing.
        let found = match self.storage.store().head(&path).await {
            Ok(_) => self.storage.store().delete(&path).await,
            Err(error) => Err(error),
        };
        match found {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn Error,
                    "the record of a refused build could not be removed; the next build tries again"
                );
            }
        }
    }
}
