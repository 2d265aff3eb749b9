use data_lake::LakeError;
use data_model::BrandSlug;
use data_storage::StorageError;
use pipeline_crawl::{LandingError, RegistryError};

/// Error that stops a task over stores. Commits before the error are not undone.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// The registry cannot be read.
    #[error("the registry cannot be read")]
    Registry(#[from] RegistryError),
    /// The lake cannot be read or written.
    #[error("the lake cannot be read or written")]
    Lake(#[from] LakeError),
    /// Landed answers, or the records of when stores were queried, cannot be read or written.
    #[error("landed answers or the records of queries cannot be read or written")]
    Storage(#[from] StorageError),
    /// The landed crawls cannot be listed or read.
    #[error("the landed pages of crawls cannot be read")]
    Landing(#[from] LandingError),
    /// A worker thread of this program panicked or was cancelled.
    #[error("a background task failed")]
    Worker(#[from] tokio::task::JoinError),
    /// The named brand is not registered.
    #[error("no brand is registered as {0}")]
    Brand(BrandSlug),
}
