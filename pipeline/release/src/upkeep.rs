//! Limits the size of a home: removes old releases, their cache, remains of builds, and unneeded lake files.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use async_recursion::async_recursion as boxed;
use data_lake::{Lake, LakeError, VacuumKeep, VacuumReport};
use data_model::ReleaseId;
use data_release::{GcOptions, GcReport, ReleaseError, ReleaseStore, Unreadable};

use crate::build::{LEFT_BEHIND_AFTER, lake_versions_in_use, sweep_builds};
use crate::error::UpkeepError;
use crate::make::clean_cache;

/// Result of a garbage collection, or of a dry run.
#[derive(Debug)]
pub struct CollectionReport {
    /// Report of the removed releases.
    pub report: GcReport,
    /// Bytes freed in the cache.
    pub cache_bytes: u64,
}

/// Removes old releases, cached files that no remaining release needs, and remains of killed builds.
#[boxed]
pub async fn collect_garbage(
    releases: &ReleaseStore,
    options: &GcOptions,
    cache_dir: &Path,
    build_dir: &Path,
) -> Result<CollectionReport, ReleaseError> {
    let report = releases.collect(options).await?;
    let cache_bytes = if options.dry_run {
        unneeded(releases, cache_dir, &report.releases, options.min_age).await?
    } else {
        // Even with a short minimum age, a folder with a build in progress must stay.
        sweep_builds(build_dir, options.min_age.max(LEFT_BEHIND_AFTER));
        clean_cache(releases, cache_dir, options.min_age).await?
    };
    Ok(CollectionReport { report, cache_bytes })
}

/// Returns the number of cached bytes that removing the releases in `gone` would free.
async fn unneeded(
    releases: &ReleaseStore,
    cache: &Path,
    gone: &[ReleaseId],
    min_age: Duration,
) -> Result<u64, ReleaseError> {
    let (_, manifests) = releases.listing_of_manifests().await?;
    let kept = manifests.iter().filter(|manifest| !gone.contains(&manifest.id));
    let files = kept.flat_map(|manifest| manifest.files());
    let needed: BTreeSet<String> = files.map(|file| file.sha256.to_string()).collect();
    // Complete files, and partial files of interrupted fetches.
    let folders = ["files", "partial"].map(|folder| cache.join(folder));
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok());
    let unneeded = entries.flatten().flatten().filter_map(|entry| {
        let metadata = entry.metadata().ok()?;
        let age = metadata.modified().ok()?.elapsed().unwrap_or_default();
        let named = entry.file_name().to_str().is_some_and(|name| needed.contains(name));
        (age >= min_age && !named).then_some(metadata.len())
    });
    Ok(unneeded.sum())
}

/// Result of a vacuum of the lake, or of a dry run.
#[derive(Debug)]
pub struct VacuumOutcome {
    /// Removed files of the lake.
    pub report: VacuumReport,
    /// Damaged manifests and release log entries. The lake files that they need are unknown.
    pub unreadable: Vec<Unreadable>,
}

/// Removes lake files that are older than `retention` and that no release needs.
#[boxed]
pub async fn vacuum_lake(
    lake: &Lake,
    releases: &ReleaseStore,
    retention: Duration,
    dry_run: bool,
) -> Result<VacuumOutcome, UpkeepError> {
    vacuum_some(lake, releases, retention, dry_run, usize::MAX).await
}

async fn vacuum_some(
    lake: &Lake,
    releases: &ReleaseStore,
    retention: Duration,
    dry_run: bool,
    files_max: usize,
) -> Result<VacuumOutcome, UpkeepError> {
    let in_use = lake_versions_in_use(releases).await.map_err(UpkeepError::Releases)?;
    let keep = VacuumKeep {
        retention,
        versions: in_use.versions,
        dry_run,
    };
    let vacuumed: Result<VacuumReport, LakeError> = lake.vacuum_some(&keep, files_max).await;
    Ok(VacuumOutcome {
        report: vacuumed.map_err(UpkeepError::Lake)?,
        unreadable: in_use.unreadable,
    })
}

/// Upkeep that one build does in addition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TidyOptions {
    /// Period of time travel that the lake keeps.
    pub retention: Duration,
    /// Rules for keeping releases.
    pub gc: GcOptions,
    /// Number of lake commits between vacuums, and of release log events between collections of old releases.
    pub every: u64,
    /// Maximum number of file merges in one call.
    pub merges_max: usize,
    /// Maximum number of lake files removed in one call.
    pub files_max: usize,
}

impl TidyOptions {
    /// Creates limits that suit the upkeep after one build.
    #[must_use]
    pub const fn new(retention: Duration, gc: GcOptions) -> Self {
        Self {
            retention,
            gc,
            every: 16,
            merges_max: 4,
            files_max: 5_000,
        }
    }
}

/// Result of the upkeep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UpkeepReport {
    /// Number of merges of lake files.
    pub merges: usize,
    /// Number of lake files removed.
    pub files: usize,
    /// Number of releases removed.
    pub releases: usize,
}

/// Does a limited part of the upkeep, so that an unattended market does not grow with every crawl. Small lake files are
/// merged, and sometimes unneeded files and releases are removed. The work is that of the upkeep jobs, in small steps.
/// Most calls find nothing to do. Releases are collected only if the preceding build `published` one.
///
/// # Errors
/// An [`UpkeepError`]. The next call does the remaining work.
#[boxed]
pub async fn tidy(
    lake: &Lake,
    releases: &ReleaseStore,
    options: &TidyOptions,
    published: bool,
    cache_dir: &Path,
    build_dir: &Path,
) -> Result<UpkeepReport, UpkeepError> {
    let merged = lake.compact_some(options.merges_max).await.map_err(UpkeepError::Lake)?;
    let mut tidied = UpkeepReport {
        merges: merged.merged.len(),
        ..UpkeepReport::default()
    };
    if lake.is_vacuum_due(options.every).await.map_err(UpkeepError::Lake)? {
        let vacuumed = vacuum_some(lake, releases, options.retention, false, options.files_max).await?;
        tidied.files = vacuumed.report.files.len();
    }
    let current = releases.current().await.map_err(UpkeepError::Collect)?;
    if published && current.is_some_and(|current| current.seq.is_multiple_of(options.every.max(1))) {
        let collected = collect_garbage(releases, &options.gc, cache_dir, build_dir).await;
        tidied.releases = collected.map_err(UpkeepError::Collect)?.report.releases.len();
    }
    Ok(tidied)
}
