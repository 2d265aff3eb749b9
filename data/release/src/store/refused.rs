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

/// The last build that was refused or failed, if no build has succeeded since: `refused.json` beside the log.
///
/// While there is one, the current release is older than the lake. A build that publishes, or that finds the current
/// release to hold what the lake holds, removes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// When the build ended.
    pub at: Timestamp,
    /// The reason, with its causes, in one line of at most [`REASON_BYTES_MAX`] bytes.
    pub reason: String,
    /// The release that was refused; `None` where the build failed before it had one.
    #[serde(default)]
    pub release: Option<ReleaseId>,
    /// The totals of the refused release, where they are known.
    #[serde(default)]
    pub counts: Option<Counts>,
    /// The release that it was compared with, the current one; `None` where there was none or it is not known.
    #[serde(default)]
    pub current: Option<ReleaseId>,
    /// The totals of that release, where they are known.
    #[serde(default)]
    pub current_counts: Option<Counts>,
    /// The lake's tables and the versions that the build read; empty where it failed before it read them.
    #[serde(default)]
    pub lake: BTreeMap<String, u64>,
}

/// Most bytes of a reason; the rest is cut off.
pub const REASON_BYTES_MAX: usize = 2_000;
/// More than any refusal has.
const REFUSAL_BYTES_MAX: usize = 1 << 20;

impl Refusal {
    /// A refusal of which nothing but the error is known.
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

/// The error and its causes in one line. A cause that the text before already holds is not repeated.
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
    /// The last build that was refused or failed; `None` when the last build succeeded, or there was none.
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

    /// Records that a build failed before it had a release to publish, see [`Refusal`]. What goes wrong here is a
    /// warning: it must not hide why the build failed.
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
            tracing::warn!(error = &error as &dyn Error, "a refused build is not recorded");
        }
    }

    /// Removes the record of a refused build after one that succeeded; what goes wrong is a warning.
    pub(super) async fn forget_refusal(&self) {
        let path = path();
        // A look first: most builds follow one that succeeded, and a look changes nothing.
        let found = match self.storage.store().head(&path).await {
            Ok(_) => self.storage.store().delete(&path).await,
            Err(error) => Err(error),
        };
        match found {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn Error,
                    "the record of a refused build is not removed; the next build tries again"
                );
            }
        }
    }
}
