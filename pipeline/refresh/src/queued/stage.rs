//! A worker's finds of a store, where every committer sees them: `staging/{run}/{store}.{fence}.json`.

use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, RunId, StoreHost};
use data_storage::{Storage, StorageError};
use object_store::path::Path;
use pipeline_crawl::{CrawlState, delete_object, list_objects, load_document, save_document};
use serde::{Deserialize, Serialize};

use crate::summary::{Outcome, StoreSummary};

/// The reason why a worker's result cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[error("a worker's result cannot be written or read")]
pub struct StageError(#[from] StorageError);

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
        let at = stage_at(&self.run, &self.store, self.fence);
        Ok(save_document(storage, &at, self).await?)
    }

    /// The stage of a fence; `None` if it is gone or cannot be understood.
    pub(crate) async fn load(
        storage: &Storage,
        run: &RunId,
        store: &StoreHost,
        fence: i64,
    ) -> Result<Option<Self>, StageError> {
        let stage: Option<Self> = load_document(storage, &stage_at(run, store, fence)).await?;
        Ok(stage.filter(|stage| stage.store == *store && stage.run == *run && stage.fence == fence))
    }
}

/// Deletes what was staged of a run that is over.
///
/// # Errors
/// [`StageError`].
#[boxed]
pub async fn clear_stages(storage: &Storage, run: &RunId) -> Result<(), StageError> {
    let folder = Path::from_iter(["staging", run.as_str()]);
    for path in list_objects(storage, &folder).await? {
        delete_object(storage, &path).await?;
    }
    Ok(())
}
