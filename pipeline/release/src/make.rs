use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use data_lake::Lake;
use data_model::{Clock, ReleaseId, Timestamp};
use data_release::{ReleaseError, ReleaseStore, RolledBack};
use serde::Serialize;

use crate::build::{ReleaseOptions, ReleaseOutcome, ReleaseReport, build_release};
use crate::error::ReleaseBuildError;
use crate::progress::BuildProgress;

/// The outcome of a build, and the fate of the releases before it.
#[derive(Debug, Serialize)]
pub struct BuildOutcome {
    /// The build.
    #[serde(flatten)]
    pub report: ReleaseReport,
    /// The release that was gone back from, where this build makes another one of the lake.
    pub rolled_back: Option<ReleaseId>,
    /// The moment of that.
    pub rolled_back_at: Option<Timestamp>,
}

impl BuildOutcome {
    /// True where a build that nobody watched did less than was asked for, or more than is wanted: the current release is
    /// pinned, a roll-back was undone, or brands are as they were since the lake cannot be read or is doubted.
    #[must_use]
    pub fn needs_a_look(&self) -> bool {
        self.report.outcome == ReleaseOutcome::Pinned
            || self.rolled_back.is_some()
            || !self.report.unreadable.is_empty()
            || !self.report.held.is_empty()
    }
}

/// Age below which a cached file may be one that another process is about to open.
const CACHED_AT_LEAST: Duration = Duration::from_secs(3600);

/// [`build_release`], with what belongs to it: a release that was rolled back and is made anew is warned of, so is a pin
/// that ended, and the cache is freed of what no release needs.
///
/// # Errors
/// See [`ReleaseBuildError`].
pub async fn make_release(
    lake: &Lake,
    releases: &ReleaseStore,
    options: &ReleaseOptions,
    progress: Arc<dyn BuildProgress>,
    clock: &dyn Clock,
) -> Result<BuildOutcome, ReleaseBuildError> {
    // It costs a warning where it cannot be read, no build.
    let rolled_back = releases.rolled_back().await.unwrap_or_default();
    let before = releases.current().await.ok().flatten();
    let report = build_release(lake, releases, options, progress, clock).await?;
    if report.outcome == ReleaseOutcome::Published {
        if let Err(error) = clean_cache(releases, &options.cache_dir, CACHED_AT_LEAST).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the cache could not be cleaned"
            );
        }
        if let Some(pinned) = before.filter(|before| before.pinned.is_some()) {
            tracing::warn!(release = %report.release, "release {} was pinned; the pin ended, as was asked for", pinned.id);
        }
    }
    let made = matches!(report.outcome, ReleaseOutcome::Published | ReleaseOutcome::DryRun);
    let rolled_back = rolled_back.filter(|_| made);
    if let Some(RolledBack { release, at }) = rolled_back {
        tracing::warn!(
            release = %report.release,
            "release {release} was rolled back at {at}, and this release is made of the lake as it is now; \
             `haat release pin` keeps a release current"
        );
    }
    Ok(BuildOutcome {
        report,
        rolled_back: rolled_back.map(|back| back.release),
        rolled_back_at: rolled_back.map(|back| back.at),
    })
}

/// Frees the cache of what no release needs that can still be rolled back to, and answers how many bytes that were. It is
/// the build's and, on the same machine, the query server's: what that has open stays readable, and what it lacks it
/// fetches again.
pub(crate) async fn clean_cache(
    releases: &ReleaseStore,
    cache_dir: &Path,
    min_age: Duration,
) -> Result<u64, ReleaseError> {
    let (_, manifests) = releases.listing_of_manifests().await?;
    let manifests: Vec<_> = manifests.iter().collect();
    releases.clean_cache(cache_dir, &manifests, min_age)
}
