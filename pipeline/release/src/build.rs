use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use data_index::{
    Assembly, BuildOptions, CheckOptions, Counts, Current, Manifest, PlanOptions, Publication, Published, ReleaseError,
    ReleaseStore, assemble, plan,
};
use data_lake::Lake;
use data_model::{Clock, ReleaseId, Timestamp};
use serde::Serialize;

use crate::error::ReleaseBuildError;
use crate::parts::{Workshop, build_parts};
use crate::stores::stores;

/// Told how far a build is; calls come from several threads.
pub trait BuildProgress: Send + Sync + std::fmt::Debug {
    /// The plan stands: so many products are to be indexed.
    fn planned(&self, _products: u64) {}
    /// So many more are indexed.
    fn indexed(&self, _products: u64) {}
}

/// Tells nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl BuildProgress for NoProgress {}

/// How a release is made.
#[derive(Debug, Clone)]
pub struct ReleaseOptions {
    /// Index everything anew instead of sharing parts with the release before.
    pub full: bool,
    /// Build and assemble, but publish nothing.
    pub dry_run: bool,
    /// When the release must not be published.
    pub checks: CheckOptions,
    /// When parts are kept, rewritten and merged.
    pub plan: PlanOptions,
    /// How parts are built.
    pub build: BuildOptions,
    /// Parts built at the same time.
    pub threads: usize,
    /// Folder for the new files; emptied of what this build wrote when it ends.
    pub work_dir: PathBuf,
    /// Folder that the release is fetched to for its checks: the query server's cache on the same machine.
    pub cache_dir: PathBuf,
}

/// What became of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReleaseOutcome {
    /// The current release holds just this; nothing was written.
    Unchanged,
    /// The release is current now.
    Published,
    /// Not published, as asked.
    DryRun,
    /// Another writer published first; nothing was changed.
    Lost,
}

/// What was built.
#[derive(Debug, Clone, Serialize)]
pub struct ReleaseReport {
    /// What became of it.
    pub outcome: ReleaseOutcome,
    /// Its id.
    pub release: ReleaseId,
    /// The release before, where there was one.
    pub previous: Option<ReleaseId>,
    /// What it holds.
    pub counts: Counts,
    /// Parts shared with the release before.
    pub parts_kept: usize,
    /// Parts built anew.
    pub parts_built: usize,
    /// Products indexed.
    pub products_indexed: u64,
    /// When the build began.
    pub started_at: Timestamp,
    /// How long it took.
    pub duration_ms: i64,
}

/// Builds the next release and publishes it.
///
/// # Errors
/// See [`ReleaseBuildError`]; whatever fails, the current release stays what it was.
#[tracing::instrument(target = "trace::release", name = "release build", level = "info", skip_all, fields(full = options.full))]
pub async fn build_release(
    lake: &Lake,
    releases: &ReleaseStore,
    options: &ReleaseOptions,
    progress: Arc<dyn BuildProgress>,
    clock: &dyn Clock,
) -> Result<ReleaseReport, ReleaseBuildError> {
    let started_at = clock.now();
    let current = releases.current().await.map_err(ReleaseBuildError::Previous)?;
    let previous = previous(releases, current, options.full).await?;
    let snapshot = lake.snapshot().await.map_err(ReleaseBuildError::Snapshot)?;
    std::fs::create_dir_all(&options.work_dir).map_err(ReleaseBuildError::WorkDir)?;
    sweep_builds(&options.work_dir, LEFT_BEHIND_AFTER);
    let files = tempfile::tempdir_in(&options.work_dir).map_err(ReleaseBuildError::WorkDir)?;
    let stores = stores(&snapshot, previous.as_ref(), files.path()).await?;
    let plan_options = PlanOptions {
        embedding: options.build.embedding(),
        ..options.plan.clone()
    };
    let plan = plan(previous.as_ref(), &stores, &plan_options);
    progress.planned(plan.rows_to_index());
    let workshop = Workshop {
        snapshot: snapshot.clone(),
        facts: Arc::new(
            stores
                .iter()
                .map(|store| (store.facts.brand.store.clone(), store.facts.clone()))
                .collect(),
        ),
        options: options.build.clone(),
        progress,
    };
    let built = build_parts(&plan, &workshop, files.path(), options.threads).await?;
    let (parts_kept, parts_built) = (plan.keep.len(), built.len());
    let products_indexed = plan.rows_to_index();
    let lake = snapshot.versions().clone();
    let assembly = Assembly {
        previous: previous.as_ref(),
        plan,
        built,
        stores: &stores,
        lake,
        built_at: clock.now(),
    };
    let manifest = assemble(assembly).map_err(ReleaseBuildError::Assemble)?;
    let outcome = if options.dry_run {
        ReleaseOutcome::DryRun
    } else {
        publish(releases, &manifest, current, files.path(), options).await?
    };
    Ok(ReleaseReport {
        outcome,
        release: manifest.id,
        previous: current.map(|current| current.id),
        counts: manifest.counts,
        parts_kept,
        parts_built,
        products_indexed,
        started_at,
        duration_ms: clock.now().millis_since(started_at),
    })
}

/// How old a folder of an earlier build must be before it is taken for what a kill left behind.
const LEFT_BEHIND_AFTER: Duration = Duration::from_secs(24 * 3600);

/// Removes what killed builds left in their folder `min_age` ago or before; a folder that cannot be looked at or removed is
/// left for the next time.
pub fn sweep_builds(work_dir: &Path, min_age: Duration) {
    for entry in std::fs::read_dir(work_dir).into_iter().flatten().flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| modified.elapsed().ok());
        if age.is_some_and(|age| age >= min_age) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

async fn previous(
    releases: &ReleaseStore,
    current: Option<Current>,
    full: bool,
) -> Result<Option<Manifest>, ReleaseBuildError> {
    match current.filter(|_| !full) {
        Some(current) => match releases.manifest(current.id).await {
            // Where the log names a release that is gone, the last one that can be read stands in for it.
            Err(ReleaseError::NoSuchRelease(_)) => releases.last_readable(current.id).await,
            found => found.map(Some),
        }
        .map_err(ReleaseBuildError::Previous),
        None => Ok(None),
    }
}

async fn publish(
    releases: &ReleaseStore,
    manifest: &Manifest,
    current: Option<Current>,
    files: &Path,
    options: &ReleaseOptions,
) -> Result<ReleaseOutcome, ReleaseBuildError> {
    let publication = Publication {
        manifest,
        files,
        cache: &options.cache_dir,
        expected: current.map(|current| current.seq),
        checks: &options.checks,
    };
    Ok(
        match releases
            .publish(publication)
            .await
            .map_err(ReleaseBuildError::Publish)?
        {
            Published::Published(_) => ReleaseOutcome::Published,
            Published::Unchanged(_) => ReleaseOutcome::Unchanged,
            // The other writer was first with the very same.
            Published::Lost(Some(other)) if other.id == manifest.id => ReleaseOutcome::Unchanged,
            Published::Lost(_) => ReleaseOutcome::Lost,
        },
    )
}

/// The lake's table versions that a release still to be had was built from: what a vacuum must keep.
///
/// # Errors
/// The releases cannot be listed or read.
pub async fn lake_versions_in_use(releases: &ReleaseStore) -> Result<Vec<BTreeMap<String, u64>>, ReleaseBuildError> {
    let listed = releases.list().await.map_err(ReleaseBuildError::Previous)?;
    let mut versions = BTreeSet::new();
    for release in listed {
        let manifest = releases
            .manifest(release.id)
            .await
            .map_err(ReleaseBuildError::Previous)?;
        versions.insert(manifest.lake);
    }
    Ok(versions.into_iter().collect())
}
