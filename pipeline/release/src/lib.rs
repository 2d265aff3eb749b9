//! Makes the next release of what the lake holds: compares, indexes what changed, checks, publishes.
//!
//! In: one consistent snapshot of the lake and the release before. Out: a published release, or the reason why none
//! was. Cost follows what changed: a brand whose content hash is that of the release before, and of
//! which nothing new was seen live, is not read.
//!
//! It never serves, never changes the lake, and never publishes what its checks refuse.

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
