//! A worker's finds of a store, where every committer sees them: `staging/{run}/{store}.{fence}.json`.

use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, RunId, StoreHost};
use data_storage::{Storage, StorageError, get_bytes, put_over};
use futures::TryStreamExt;
use object_store::ObjectStoreExt;
use object_store::path::Path;
use pipeline_crawl::CrawlState;
use serde::{Deserialize, Serialize};

use crate::summary::{Outcome, StoreSummary};

/// The reason why a worker's result cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// It could not be written or read.
    #[error("a worker's result cannot be written or read")]
    Storage(#[from] StorageError),
    /// It does not serialise.
    #[error("a worker's result does not serialise")]
    Json(#[from] serde_json::Error),
    /// A stage that is done with could not be deleted.
    #[error("results that are done with cannot be deleted")]
    Delete(#[source] object_store::Error),
}

/// A worker's finds of one store. Its name has the fence under which the worker had the store: what one writes who was taken
/// for gone never stands in the place of another's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StagedResult {
    /// The run.
    pub(crate) run: RunId,
    /// The store.
    pub(crate) store: StoreHost,
    /// Its brand.
    pub(crate) slug: BrandSlug,
    /// The right under which it was crawled.
    pub(crate) fence: i64,
    /// The summary to report of it.
    pub(crate) summary: StoreSummary,
    /// The landed pages that are for the lake; `None` where it has nothing to take in.
    pub(crate) changed: Option<CrawlState>,
}

/// The place of a stage of this fence.
fn stage_at(run: &RunId, store: &StoreHost, fence: i64) -> Path {
    Path::from_iter(["staging", run.as_str(), &format!("{store}.{fence}.json")])
}

impl StagedResult {
    /// The reason why the store was not refreshed: a code and a text; `None` where it was.
    #[must_use]
    pub fn failure(&self) -> Option<(&str, &str)> {
        match &self.summary.outcome {
            Outcome::Failed { code, reason } => Some((code, reason)),
            _ => None,
        }
    }

    /// The outcome of the store, in one word.
    #[must_use]
    pub const fn outcome(&self) -> &'static str {
        self.summary.outcome.as_str()
    }

    /// Keeps it: durable when this returns.
    ///
    /// # Errors
    /// [`StageError`].
    #[boxed]
    pub async fn save(&self, storage: &Storage) -> Result<(), StageError> {
        let json = serde_json::to_vec(self)?;
        Ok(put_over(storage, &stage_at(&self.run, &self.store, self.fence), json).await?)
    }

    /// The stage of a fence; `None` if it is gone or cannot be understood.
    pub(crate) async fn load(
        storage: &Storage,
        run: &RunId,
        (store, fence): (&StoreHost, i64),
    ) -> Result<Option<Self>, StageError> {
        let json = get_bytes(storage, &stage_at(run, store, fence)).await?;
        let stage: Option<Self> = json.and_then(|json| serde_json::from_slice(&json).ok());
        Ok(stage.filter(|stage| stage.store == *store && stage.run == *run && stage.fence == fence))
    }
}

/// Deletes what was staged of a run that is over.
///
/// # Errors
/// [`StageError::Delete`].
#[boxed]
pub async fn clear_stages(storage: &Storage, run: &RunId) -> Result<(), StageError> {
    let prefix = Path::from_iter(["staging", run.as_str()]);
    let mut found = storage.store().list(Some(&prefix));
    while let Some(object) = found.try_next().await.map_err(StageError::Delete)? {
        match storage.store().delete(&object.location).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
            Err(source) => return Err(StageError::Delete(source)),
        }
    }
    Ok(())
}
