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

/// Outcome of a build, with earlier rollbacks that it undid.
#[derive(Debug, Serialize)]
pub struct BuildOutcome {
    /// Report of the build.
    #[serde(flatten)]
    pub report: ReleaseReport,
    /// Release from which the operator rolled back, if this build publishes a new one from the lake.
    pub rolled_back: Option<ReleaseId>,
    /// Time of the rollback.
    pub rolled_back_at: Option<Timestamp>,
}

impl BuildOutcome {
    /// Returns true if an operator should look at an unattended build: the current release is pinned, a rollback was
    /// undone, or brands were not updated because the lake is unreadable or doubtful.
    #[must_use]
    pub fn needs_a_look(&self) -> bool {
        self.report.outcome == ReleaseOutcome::Pinned
            || self.rolled_back.is_some()
            || !self.report.unreadable.is_empty()
            || !self.report.held.is_empty()
    }
}

/// Another process may be about to open a younger cached file.
const CACHED_AT_LEAST: Duration = Duration::from_secs(3600);

/// Runs [`build_release`] and its follow-up work. Warns if a rolled-back release is built again or a pin has ended, and
/// deletes cached files that no release needs.
pub async fn make_release(
    lake: &Lake,
    releases: &ReleaseStore,
    options: &ReleaseOptions,
    progress: Arc<dyn BuildProgress>,
    clock: &dyn Clock,
) -> Result<BuildOutcome, ReleaseBuildError> {
    // Without this, only a warning is missing.
    let rolled_back = releases.rolled_back().await.unwrap_or_default();
    let before = releases.current().await.ok().flatten();
    let report = build_release(lake, releases, options, progress, clock).await?;
    if report.outcome == ReleaseOutcome::Published {
        if let Err(error) = clean_cache(releases, &options.cache_dir, CACHED_AT_LEAST).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the cache could not be cleaned up"
            );
        }
        if let Some(pinned) = before.filter(|before| before.pinned.is_some()) {
            tracing::warn!(release = %report.release, "release {} was pinned; the pin was removed as requested", pinned.id);
        }
    }
    let made = matches!(report.outcome, ReleaseOutcome::Published | ReleaseOutcome::DryRun);
    let rolled_back = rolled_back.filter(|_| made);
    if let Some(RolledBack { release, at }) = rolled_back {
        tracing::warn!(
            release = %report.release,
            "release {release} was rolled back at {at}, and this release is built from the lake's current state; \
             `haat release pin` keeps a release current"
        );
    }
    Ok(BuildOutcome {
        report,
        rolled_back: rolled_back.map(|back| back.release),
        rolled_back_at: rolled_back.map(|back| back.at),
    })
}

/// Deletes cached files that no release needs to which a rollback is possible. Returns the number of bytes freed. The
/// cache belongs to the build and, on the same machine, to the query server. Files that the server has open stay
/// readable, and missing files are fetched again.
pub(crate) async fn clean_cache(
    releases: &ReleaseStore,
    cache_dir: &Path,
    min_age: Duration,
) -> Result<u64, ReleaseError> {
    let (_, manifests) = releases.listing_of_manifests().await?;
    let manifests: Vec<_> = manifests.iter().collect();
    releases.clean_cache(cache_dir, &manifests, min_age)
}
