use data_index::{BuildError, OpenError};
use data_lake::LakeError;
use data_release::{AssembleError, ReleaseError};
use pipeline_quality::{QualityError, ReleaseHold};

/// The reason why no release was made.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseBuildError {
    /// The lake's tables could not be opened at one moment, or a tick that was begun could not be finished: a release is
    /// never built of a state older than the newest tick.
    #[error("the lake cannot be read")]
    Snapshot(#[source] LakeError),
    /// The quality of the data could not be judged.
    #[error("the quality of the lake's data is not known")]
    Quality(#[source] QualityError),
    /// The data is beyond a threshold, and nobody said that it is right.
    #[error(transparent)]
    HeldBack(ReleaseHold),
    /// The brands could not be read.
    #[error("the lake's brands cannot be read")]
    Brands(#[source] LakeError),
    /// The brands' shipping terms could not be read.
    #[error("the lake's shipping terms cannot be read")]
    Shipping(#[source] LakeError),
    /// The delivery of brands could not be read.
    #[error("the lake's delivery matrix cannot be read")]
    Delivery(#[source] LakeError),
    /// The delivery of a brand could not be written.
    #[error("the known answers on delivery cannot be written")]
    DeliveryFile(#[source] BuildError),
    /// The reviews of review apps could not be read.
    #[error("the lake's reviews of review apps cannot be read")]
    Reviews(#[source] LakeError),
    /// The reviews of a brand's review app could not be written.
    #[error("the ratings of review apps cannot be written")]
    ReviewsFile(#[source] BuildError),
    /// The changes of brands that were seen live could not be read.
    #[error("the lake's live prices cannot be read")]
    Live(#[source] LakeError),
    /// The history of prices could not be read.
    #[error("the lake's price history cannot be read")]
    History(#[source] LakeError),
    /// The products of a part could not be read.
    #[error("the lake's products cannot be read")]
    Products(#[source] LakeError),
    /// The release before could not be read.
    #[error("the release before cannot be read")]
    Previous(#[source] ReleaseError),
    /// The folder for the new files could not be made.
    #[error("no folder to build in")]
    WorkDir(#[source] std::io::Error),
    /// A part could not be built.
    #[error("a part cannot be built")]
    Part(#[source] BuildError),
    /// The thread that built a part ended without a result.
    #[error("the build of a part broke off")]
    BrokeOff,
    /// The parts make no release.
    #[error("the parts do not make a release")]
    Assemble(#[source] AssembleError),
    /// The parts could not be opened, to see which of their products are the same.
    #[error("the parts that were built cannot be opened")]
    Unopened(#[source] OpenError),
    /// The pairs of products that are the same could not be written.
    #[error("the matches between products cannot be written")]
    Matches(#[source] BuildError),
    /// The products that went could not be written.
    #[error("the products that went cannot be written")]
    Gone(#[source] BuildError),
    /// The release could not be published.
    #[error("the release cannot be published")]
    Publish(#[source] ReleaseError),
    /// The release was built, and may be current or not.
    #[error("the release was built; the store did not answer when it was published")]
    PublishUnknown(#[source] ReleaseError),
}

impl ReleaseBuildError {
    /// The file of the lake that is missing or damaged, where it is this that failed.
    pub(crate) fn lost_file(&self) -> Option<&str> {
        match self {
            Self::Brands(error)
            | Self::Shipping(error)
            | Self::Delivery(error)
            | Self::Reviews(error)
            | Self::Live(error)
            | Self::Products(error) => error.lost_file(),
            _ => None,
        }
    }
}

/// The reason why the lake was not tidied.
#[derive(Debug, thiserror::Error)]
pub enum UpkeepError {
    /// The releases' needs of the lake are not known.
    #[error(transparent)]
    Releases(ReleaseBuildError),
    /// The lake failed.
    #[error(transparent)]
    Lake(LakeError),
    /// Old releases could not be collected.
    #[error(transparent)]
    Collect(ReleaseError),
}
