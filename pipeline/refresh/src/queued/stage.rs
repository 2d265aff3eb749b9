//! Worker's result for a store, saved where every committer can read it: `staging/{run}/{store}.{fence}.json`.

use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, RunId, StoreHost};
use data_storage::{Storage, StorageError};
use object_store::path::Path;
use pipeline_crawl::{CrawlState, delete_object, list_objects, load_document, save_document};
use serde::{Deserialize, Serialize};

use crate::summary::{Outcome, StoreSummary};

/// Error from writing or reading a worker's result.
#[derive(Debug, thiserror::Error)]
#[error("a worker's result cannot be written or read")]
pub struct StageError(#[from] StorageError);

/// Worker's result for one store. The object name contains the worker's fence, so that a worker that was presumed dead
/// never overwrites another worker's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StagedResult {
    /// Id of the run.
    pub(crate) run: RunId,
    /// Host of the store.
    pub(crate) store: StoreHost,
    /// Slug of the brand.
    pub(crate) slug: BrandSlug,
    /// Fence under which the store was crawled.
    pub(crate) fence: i64,
    /// Summary for the report.
    pub(crate) summary: StoreSummary,
    /// Crawl whose landed pages are to be committed; `None` if there is nothing to commit.
    pub(crate) changed: Option<CrawlState>,
}

/// Returns the path of the stage with this fence.
fn stage_at(run: &RunId, store: &StoreHost, fence: i64) -> Path {
    Path::from_iter(["staging", run.as_str(), &format!("{store}.{fence}.json")])
}

impl StagedResult {
    /// Returns the code and text of the reason why the store was not refreshed; `None` if it was.
    #[must_use]
    pub fn failure(&self) -> Option<(&str, &str)> {
        match &self.summary.outcome {
            Outcome::Failed { code, reason } => Some((code, reason)),
            _ => None,
        }
    }

    /// Returns the outcome of the store as one word.
    #[must_use]
    pub const fn outcome(&self) -> &'static str {
        self.summary.outcome.as_str()
    }

    /// Saves the stage. The stage is durable when this function returns.
    ///
    /// # Errors
    /// [`StageError`].
    #[boxed]
    pub async fn save(&self, storage: &Storage) -> Result<(), StageError> {
        let at = stage_at(&self.run, &self.store, self.fence);
        Ok(save_document(storage, &at, self).await?)
    }

    /// Loads the stage with this fence; `None` if it is missing or cannot be parsed.
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
