//! The upkeep that keeps a home small: old releases, their cache, leavings of builds, and files of the lake that nothing needs.

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

/// The releases and bytes that a collection of garbage removed, or would remove.
#[derive(Debug)]
pub struct CollectionReport {
    /// Of the releases.
    pub report: GcReport,
    /// Of the cache, in bytes.
    pub cache_bytes: u64,
}

/// Removes old releases, of the cache what none that stays needs, and what builds left behind.
///
/// # Errors
/// See [`ReleaseError`].
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
        // However short the age of files is, a folder in which a build may be at work stays.
        sweep_builds(build_dir, options.min_age.max(LEFT_BEHIND_AFTER));
        clean_cache(releases, cache_dir, options.min_age).await?
    };
    Ok(CollectionReport { report, cache_bytes })
}

/// Bytes of the cache that a collection that removes the releases `gone` would free.
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
    // Whole files, and what interrupted fetches left.
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

/// The files that a vacuum of the lake removed, or would remove.
#[derive(Debug)]
pub struct VacuumOutcome {
    /// Of the lake.
    pub report: VacuumReport,
    /// Damaged manifests and entries of the log of releases: which files of the lake they need is not known.
    pub unreadable: Vec<Unreadable>,
}

/// Removes files of the lake that neither the last `retention` nor a release needs.
///
/// # Errors
/// See [`UpkeepError`].
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

/// The upkeep that one build does on the side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TidyOptions {
    /// The time travel that the lake keeps.
    pub retention: Duration,
    /// The rule by which releases stay.
    pub gc: GcOptions,
    /// After so many ticks the lake is vacuumed, after so many events of the release log old releases are collected.
    pub every: u64,
    /// Most merges of files that one call makes.
    pub merges_max: usize,
    /// Most files of the lake that one call removes.
    pub files_max: usize,
}

impl TidyOptions {
    /// As much as belongs beside one build.
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

/// The upkeep that was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UpkeepReport {
    /// Merges of files of the lake.
    pub merges: usize,
    /// Files of the lake that went.
    pub files: usize,
    /// Releases that went.
    pub releases: usize,
}

/// Does a bounded part of the upkeep, so that a market that nobody tends does not grow with the number of its crawls: small
/// files of the lake are merged, and now and then files and releases go that nothing needs any more. It is what the jobs for
/// that do as a whole; most calls find nothing to do. Releases are collected only where the build before `published` one.
///
/// # Errors
/// See [`UpkeepError`]; what was not done is left to the next call.
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
