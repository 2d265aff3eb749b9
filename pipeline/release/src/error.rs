use data_index::{BuildError, OpenError};
use data_lake::LakeError;
use data_release::{AssembleError, ReleaseError};
use pipeline_quality::{QualityError, ReleaseHold};

/// Reason why no release was built.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseBuildError {
    /// The lake's tables could not be opened at one consistent state, or an unfinished commit could not be completed. A
    /// release is never built from a state older than the newest commit.
    #[error("the lake cannot be read")]
    Snapshot(#[source] LakeError),
    /// The quality of the data could not be checked.
    #[error("the quality of the lake's data cannot be determined")]
    Quality(#[source] QualityError),
    /// The data exceeds a quality threshold, and the operator has not accepted it.
    #[error(transparent)]
    HeldBack(ReleaseHold),
    /// The brands could not be read.
    #[error("the lake's brands cannot be read")]
    Brands(#[source] LakeError),
    /// The brands' shipping terms could not be read.
    #[error("the lake's shipping terms cannot be read")]
    Shipping(#[source] LakeError),
    /// The delivery data of brands could not be read.
    #[error("the lake's delivery matrix cannot be read")]
    Delivery(#[source] LakeError),
    /// The delivery data of a brand could not be written.
    #[error("the delivery answers cannot be written")]
    DeliveryFile(#[source] BuildError),
    /// The reviews from review apps could not be read.
    #[error("the lake's reviews from review apps cannot be read")]
    Reviews(#[source] LakeError),
    /// The reviews from a brand's review app could not be written.
    #[error("the ratings from review apps cannot be written")]
    ReviewsFile(#[source] BuildError),
    /// The live changes of brands could not be read.
    #[error("the lake's live prices cannot be read")]
    Live(#[source] LakeError),
    /// The history of prices could not be read.
    #[error("the lake's price history cannot be read")]
    History(#[source] LakeError),
    /// The products of a part could not be read.
    #[error("the lake's products cannot be read")]
    Products(#[source] LakeError),
    /// The previous release could not be read.
    #[error("the previous release cannot be read")]
    Previous(#[source] ReleaseError),
    /// The folder for new files could not be created.
    #[error("the build folder cannot be created")]
    WorkDir(#[source] std::io::Error),
    /// A part could not be built.
    #[error("a part cannot be built")]
    Part(#[source] BuildError),
    /// The thread that built a part ended without a result.
    #[error("the task that builds a part failed")]
    BrokeOff,
    /// The parts could not be assembled into a release.
    #[error("the parts cannot be assembled into a release")]
    Assemble(#[source] AssembleError),
    /// The parts could not be opened for the search for equal products.
    #[error("the built parts cannot be opened")]
    Unopened(#[source] OpenError),
    /// The pairs of equal products could not be written.
    #[error("the matches between products cannot be written")]
    Matches(#[source] BuildError),
    /// The removed products could not be written.
    #[error("the removed products cannot be written")]
    Gone(#[source] BuildError),
    /// The release could not be published.
    #[error("the release cannot be published")]
    Publish(#[source] ReleaseError),
    /// The release was built, but its publication is unknown.
    #[error("the release was built, but the store did not answer when it was published")]
    PublishUnknown(#[source] ReleaseError),
}

impl ReleaseBuildError {
    /// Returns the path of the missing or damaged lake file that caused the error.
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

/// Reason why the upkeep of lake and releases failed.
#[derive(Debug, thiserror::Error)]
pub enum UpkeepError {
    /// The lake versions needed by the releases are unknown.
    #[error(transparent)]
    Releases(ReleaseBuildError),
    /// The lake failed.
    #[error(transparent)]
    Lake(LakeError),
    /// Old releases could not be removed.
    #[error(transparent)]
    Collect(ReleaseError),
}
