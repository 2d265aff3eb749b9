use data_lake::LakeError;
use data_model::{BrandSlug, IdError};
use data_storage::StorageError;
use pipeline_crawl::{LandingError, RegistryError};

/// The reason why a backfill as a whole did not come to its end. Pages of a single store are no such reason.
#[derive(Debug, thiserror::Error)]
pub enum BackfillError {
    /// The registry could not be read.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A brand that was named is not registered.
    #[error("no brand is registered as {0}")]
    UnknownBrand(BrandSlug),
    /// A crawl is at work on this machine, and it would be overtaken, or overtake.
    #[error("a crawl is at work, or another backfill: try again when it has ended")]
    CrawlAtWork,
    /// The landings could not be listed or read.
    #[error("the landed pages cannot be read")]
    Landing(#[from] LandingError),
    /// The lake could not be read.
    #[error("the lake cannot be read")]
    LakeRead(#[source] LakeError),
    /// The lake refused one commit after another.
    #[error("the lake refused {refused} commits in a row")]
    LakeWrite {
        /// The number of commits.
        refused: u32,
        /// The last refusal.
        #[source]
        source: LakeError,
    },
    /// The notes of progress could not be written, read, listed or deleted.
    #[error("the note of progress cannot be written or read")]
    Storage(#[from] StorageError),
    /// The clock has a moment that makes no id.
    #[error("the clock tells a moment that makes no id")]
    Id(#[source] IdError),
}
