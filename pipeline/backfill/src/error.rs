use data_lake::LakeError;
use data_model::{BrandSlug, IdError};
use data_storage::StorageError;
use pipeline_crawl::{LandingError, RegistryError};

/// Error that ends a whole backfill. Unreadable pages of a single store do not end it.
#[derive(Debug, thiserror::Error)]
pub enum BackfillError {
    /// The registry could not be read.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A named brand is not registered.
    #[error("no brand is registered as {0}")]
    UnknownBrand(BrandSlug),
    /// A crawl is running on this machine. It and the backfill would overwrite each other's results.
    #[error("a crawl or another backfill is running: try again when it has ended")]
    CrawlAtWork,
    /// The files in the landing area could not be listed or read.
    #[error("the landed pages cannot be read")]
    Landing(#[from] LandingError),
    /// The lake could not be read.
    #[error("the lake cannot be read")]
    LakeRead(#[source] LakeError),
    /// The lake refused several commits in a row.
    #[error("the lake refused {refused} consecutive commits")]
    LakeWrite {
        /// Number of refused commits.
        refused: u32,
        /// Error of the last refused commit.
        #[source]
        source: LakeError,
    },
    /// The progress records could not be written, read, listed or deleted.
    #[error("the backfill's progress cannot be written or read")]
    Storage(#[from] StorageError),
    /// The clock's time cannot be written as an id.
    #[error("the clock's time cannot be used as a run id")]
    Id(#[source] IdError),
}
