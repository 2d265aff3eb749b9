//! Builds the next release from the lake: compares, indexes what changed, checks and publishes.
//!
//! Input: one consistent snapshot of the lake and the previous release. Output: a published release, or the reason why
//! there is none. The cost depends on the changes: a brand with the same content hash as in the previous release and no
//! new live changes is not read.
//!
//! This crate does not serve releases and does not change the lake. A release that fails its checks is never published.

mod build;
mod error;
mod gone;
mod lag;
mod live;
mod losses;
mod make;
mod matches;
mod parts;
mod progress;
mod reviews;
mod stores;
mod upkeep;

pub use build::{
    LakeVersionsInUse, ReleaseOptions, ReleaseOutcome, ReleaseReport, build_release, lake_versions_in_use, sweep_builds,
};
pub use error::{ReleaseBuildError, UpkeepError};
pub use lag::{Lag, lag};
pub use losses::UnreadableBrand;
pub use make::{BuildOutcome, make_release};
pub use progress::{BuildProgress, NoProgress};
pub use upkeep::{CollectionReport, TidyOptions, UpkeepReport, VacuumOutcome, collect_garbage, tidy, vacuum_lake};
