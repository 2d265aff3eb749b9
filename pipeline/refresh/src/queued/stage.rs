//! Worker's result for a store, saved for every committer in `staging/{run}/{store}.{fence}.json`.

use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, RunId, StoreHost};
use data_storage::{Storage, StorageError, delete};
use object_store::path::Path;
use pipeline_crawl::{CrawlState, list_objects, load_document, save_document};
use serde::{Deserialize, Serialize};

use crate::summary::{Outcome, StoreSummary};

/// Error of writing or reading a worker's result.
#[derive(Debug, thiserror::Error)]
#[error("a worker's result cannot be written or read")]
pub struct StageError(#[from] StorageError);

/// Worker's result for one store. The object name contains the worker's fence, so that a worker that was presumed dead
/// never overwrites another worker's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StagedResult {
    pub(crate) run: RunId,
    pub(crate) store: StoreHost,
    pub(crate) slug: BrandSlug,
    /// Fence of the worker that crawled the store.
    pub(crate) fence: i64,
    pub(crate) summary: StoreSummary,
    /// Crawl whose landed pages are to be committed. `None` if there is nothing to commit.
    pub(crate) changed: Option<CrawlState>,
}

fn stage_at(run: &RunId, store: &StoreHost, fence: i64) -> Path {
    Path::from_iter(["staging", run.as_str(), &format!("{store}.{fence}.json")])
}

impl StagedResult {
    /// Returns the code and text of the failure, if the store was not refreshed.
    #[must_use]
    pub fn failure(&self) -> Option<(&str, &str)> {
        match &self.summary.outcome {
            Outcome::Failed { code, reason } => Some((code, reason)),
            _ => None,
        }
    }

    /// Returns the store's outcome as one word.
    #[must_use]
    pub const fn outcome(&self) -> &'static str {
        self.summary.outcome.as_str()
    }

    /// Saves the stage durably.
    #[boxed]
    pub async fn save(&self, storage: &Storage) -> Result<(), StageError> {
        let at = stage_at(&self.run, &self.store, self.fence);
        Ok(save_document(storage, &at, self).await?)
    }

    /// Returns `None` if the stage is missing or cannot be parsed.
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

/// Deletes the stages of a run that is over.
#[boxed]
pub async fn clear_stages(storage: &Storage, run: &RunId) -> Result<(), StageError> {
    let folder = Path::from_iter(["staging", run.as_str()]);
    for path in list_objects(storage, &folder).await? {
        delete(storage, &path).await?;
    }
    Ok(())
}
