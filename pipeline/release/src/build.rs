use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_recursion::async_recursion as boxed;
use data_index::{BuildOptions, Counts, HeldBrand, Manifest};
use data_lake::{Lake, LakeError, LakeSnapshot};
use data_model::{Clock, ReleaseId, StoreHost, Timestamp};
use data_release::{
    AssembleError, Assembly, CheckOptions, Current, Pin, PlanOptions, Publication, Published, ReleaseError,
    ReleaseStore, Unreadable, assemble, plan,
};
use pipeline_quality::{Baseline, Doubts, Gate, ReleaseHold, hold};
use serde::Serialize;

use crate::error::ReleaseBuildError;
use crate::gone::with_gone;
use crate::losses::{Losses, UnreadableBrand, warn_of, warn_of_held};
use crate::matches::{Places, with_matches};
use crate::parts::{Workshop, build_parts};
use crate::progress::BuildProgress;
use crate::stores::stores;

/// Options for building a release.
#[derive(Debug, Clone)]
pub struct ReleaseOptions {
    /// True to index everything again instead of sharing parts with the previous release.
    pub full: bool,
    /// True to build and assemble, but publish nothing.
    pub dry_run: bool,
    /// Rules that prevent the publication of a bad release.
    pub checks: CheckOptions,
    /// Data quality rules that hold a release back. `None` disables them.
    pub quality: Option<Gate>,
    /// Rules for keeping, rewriting and merging parts.
    pub plan: PlanOptions,
    /// Options for building parts.
    pub build: BuildOptions,
    /// Number of parts built concurrently.
    pub threads: usize,
    /// Folder for new files. The build deletes its files when it ends.
    pub work_dir: PathBuf,
    /// Folder to which the release is fetched for its checks. On the same machine, it is the query server's cache.
    pub cache_dir: PathBuf,
}

/// Outcome of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReleaseOutcome {
    /// The current release has this content already, and nothing was written.
    Unchanged,
    /// The new release is now current.
    Published,
    /// The release was not published because of `dry_run`.
    DryRun,
    /// Another writer published first. The build changed nothing in the storage.
    Lost,
    /// The current release is pinned, and nothing was built or published. The report is about the pinned release.
    Pinned,
}

/// Report of a build.
#[derive(Debug, Clone, Serialize)]
pub struct ReleaseReport {
    /// Outcome of the build.
    pub outcome: ReleaseOutcome,
    /// Id of the release.
    pub release: ReleaseId,
    /// Id of the previous release, if there was one.
    pub previous: Option<ReleaseId>,
    /// Pin that prevented the publication of this build.
    pub pinned: Option<Pin>,
    /// Counts of the release.
    pub counts: Counts,
    /// Number of parts shared with the previous release.
    pub parts_kept: usize,
    /// Number of parts that were built.
    pub parts_built: usize,
    /// Number of products that were indexed.
    pub products_indexed: u64,
    /// Brands whose data stays as in the previous release, because their data in the lake is doubtful.
    pub held: Vec<HeldBrand>,
    /// Brands whose data stays as in the previous release, because their files in the lake are missing or damaged.
    pub unreadable: Vec<UnreadableBrand>,
    /// First missing or damaged file of the price history. Rebuilt parts lack its data.
    pub history_lost: Option<String>,
    /// Start of the build.
    pub started_at: Timestamp,
    /// Duration of the build in milliseconds.
    pub duration_ms: i64,
}

/// Builds the next release and publishes it. The release store records a failure: see [`data_release::Refusal`].
///
/// # Errors
/// A [`ReleaseBuildError`], after which the current release is unchanged.
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
    if let Some(current) = current
        && let Some(pin) = current.pinned
        && !options.dry_run
        && !options.checks.despite_pin
    {
        return Ok(pinned(releases, current, pin, started_at, clock.now()).await);
    }
    let built = build(lake, releases, current, options, progress, clock, started_at).await;
    match &built {
        // The release store already records publications that it refuses.
        Ok(_) | Err(ReleaseBuildError::Publish(_) | ReleaseBuildError::PublishUnknown(_)) => {}
        Err(error) if !options.dry_run => releases.record_failure(error).await,
        Err(_) => {}
    }
    built
}

async fn build(
    lake: &Lake,
    releases: &ReleaseStore,
    current: Option<Current>,
    options: &ReleaseOptions,
    progress: Arc<dyn BuildProgress>,
    clock: &dyn Clock,
    started_at: Timestamp,
) -> Result<ReleaseReport, ReleaseBuildError> {
    let previous = previous(releases, current, options.full).await?;
    let snapshot = lake.newest_snapshot().await.map_err(ReleaseBuildError::Snapshot)?;
    let held = match &options.quality {
        Some(gate) => judge(gate, lake, &snapshot, releases, current, started_at).await?,
        None => Vec::new(),
    };
    warn_of_held(&held);
    std::fs::create_dir_all(&options.work_dir).map_err(ReleaseBuildError::WorkDir)?;
    sweep_builds(&options.work_dir, LEFT_BEHIND_AFTER);
    let files = tempfile::tempdir_in(&options.work_dir).map_err(ReleaseBuildError::WorkDir)?;
    let mut bench = Bench {
        snapshot: &snapshot,
        previous,
        losses: Losses::holding(&held),
        options,
        progress,
        files: files.path(),
    };
    if !held.is_empty() {
        bench.keep_from(releases, current).await?;
    }
    let mut indexing = BTreeSet::new();
    let made = loop {
        // The future of a build is large.
        match Box::pin(bench.make(clock, &mut indexing)).await {
            Ok(made) => break made,
            // One pass searches for all lost files, so that a build restarts at most a few times.
            Err(error) if error.lost_file().is_some() => {
                if !bench.losses.find(&snapshot, &indexing).await? {
                    return Err(error);
                }
                bench.keep_from(releases, current).await?;
            }
            Err(error) => return Err(error),
        }
    };
    let places = bench.places(releases);
    // The future is large.
    let manifest = made.manifest.with_held(held).map_err(AssembleError::Json);
    let manifest = manifest.map_err(ReleaseBuildError::Assemble)?;
    let manifest = Box::pin(with_matches(manifest, bench.previous.as_ref(), places)).await?;
    let manifest = &Box::pin(with_gone(manifest, &snapshot, files.path())).await?;
    if let Err(error) = lake.note_damage(bench.losses.files()).await {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "the damage could not be recorded for the next crawl"
        );
    }
    let unreadable = bench.losses.told(&made.left_out);
    warn_of(&unreadable, made.history_lost.as_deref());
    let outcome = if options.dry_run {
        (ReleaseOutcome::DryRun, None)
    } else {
        publish(releases, manifest, current, files.path(), options).await?
    };
    Ok(ReleaseReport {
        outcome: outcome.0,
        release: manifest.id,
        previous: current.map(|current| current.id),
        pinned: outcome.1,
        counts: manifest.counts.clone(),
        parts_kept: made.parts_kept,
        parts_built: made.parts_built,
        products_indexed: made.products_indexed,
        held: manifest.held.clone(),
        unreadable,
        history_lost: made.history_lost,
        started_at,
        duration_ms: clock.now().millis_since(started_at),
    })
}

struct Bench<'a> {
    snapshot: &'a LakeSnapshot,
    previous: Option<Manifest>,
    losses: Losses,
    options: &'a ReleaseOptions,
    progress: Arc<dyn BuildProgress>,
    files: &'a Path,
}

struct AssembledRelease {
    manifest: Manifest,
    parts_kept: usize,
    parts_built: usize,
    products_indexed: u64,
    left_out: BTreeSet<StoreHost>,
    history_lost: Option<String>,
}

impl<'a> Bench<'a> {
    fn places(&self, releases: &'a ReleaseStore) -> Places<'a> {
        Places {
            releases,
            files: self.files,
            cache: &self.options.cache_dir,
        }
    }

    /// Adds the stores whose products it started to read to `indexing`.
    async fn make(
        &mut self,
        clock: &dyn Clock,
        indexing: &mut BTreeSet<StoreHost>,
    ) -> Result<AssembledRelease, ReleaseBuildError> {
        let previous = self.previous.as_ref();
        let mut stores = stores(self.snapshot, previous, self.files, &mut self.losses).await?;
        let plan_options = PlanOptions {
            embedding: self.options.build.embedding(),
            unreadable: self.losses.stores(),
            ..self.options.plan.clone()
        };
        let plan = plan(previous, &stores, &plan_options);
        stores.retain(|store| !plan.left_out.contains(&store.facts.brand.store));
        indexing.extend(plan.build.iter().flat_map(|part| part.stores.iter().cloned()));
        self.progress.planned(plan.rows_to_index());
        let facts = stores.iter();
        let facts = facts.map(|store| (store.facts.brand.store.clone(), store.facts.clone()));
        let workshop = Workshop {
            snapshot: self.snapshot.clone(),
            facts: Arc::new(facts.collect()),
            options: self.options.build.clone(),
            progress: Arc::clone(&self.progress),
            history_lost: Arc::default(),
        };
        let built = build_parts(&plan, &workshop, self.files, self.options.threads).await?;
        let history_lost = workshop.history_lost.get().and_then(LakeError::lost_file);
        let (left_out, parts_kept, parts_built) = (plan.left_out.clone(), plan.keep.len(), built.len());
        let products_indexed = plan.rows_to_index();
        let assembly = Assembly {
            previous,
            plan,
            built,
            stores: &stores,
            lake: self.snapshot.versions().clone(),
            built_at: clock.now(),
        };
        Ok(AssembledRelease {
            manifest: assemble(assembly).map_err(ReleaseBuildError::Assemble)?,
            parts_kept,
            parts_built,
            products_indexed,
            left_out,
            history_lost: history_lost.map(str::to_owned),
        })
    }

    /// A full build takes only the unreadable data from the previous release.
    async fn keep_from(&mut self, releases: &ReleaseStore, current: Option<Current>) -> Result<(), ReleaseBuildError> {
        if !self.options.full {
            return Ok(());
        }
        let whole = previous(releases, current, false).await?;
        self.previous = whole.map(|manifest| self.losses.only(self.snapshot, manifest));
        Ok(())
    }
}

/// Returns the brands whose data must stay as in the current release because their data in the lake is doubtful. Fails
/// if the data of the whole market is doubtful.
async fn judge(
    gate: &Gate,
    lake: &Lake,
    snapshot: &LakeSnapshot,
    releases: &ReleaseStore,
    current: Option<Current>,
    now: Timestamp,
) -> Result<Vec<HeldBrand>, ReleaseBuildError> {
    // If the manifest cannot be read, the last readable one is used, so that its held-back brands stay held back.
    let released = match current {
        Some(current) => match releases.manifest(current.id).await {
            Ok(manifest) => Some(manifest),
            Err(_) => releases
                .last_readable(current.id)
                .await
                .map_err(ReleaseBuildError::Previous)?,
        },
        None => None,
    };
    let released = released.map(|manifest| Baseline {
        lake: manifest.lake,
        held: manifest.held,
    });
    let doubts = hold(gate, lake, snapshot, released.as_ref(), now).await;
    let Doubts { market, brands } = doubts.map_err(ReleaseBuildError::Quality)?;
    match market.is_empty() {
        true => Ok(brands),
        false => Err(ReleaseBuildError::HeldBack(ReleaseHold { findings: market })),
    }
}

/// Creates the report of a build that was not started because the current release is pinned.
async fn pinned(
    releases: &ReleaseStore,
    current: Current,
    pin: Pin,
    started_at: Timestamp,
    now: Timestamp,
) -> ReleaseReport {
    // A pin applies even if the manifest cannot be read.
    let manifest = releases.manifest(current.id).await.ok();
    let (counts, held) = manifest
        .map(|manifest| (manifest.counts, manifest.held))
        .unwrap_or_default();
    ReleaseReport {
        outcome: ReleaseOutcome::Pinned,
        release: current.id,
        previous: Some(current.id),
        pinned: Some(pin),
        counts,
        held,
        parts_kept: 0,
        parts_built: 0,
        products_indexed: 0,
        unreadable: Vec::new(),
        history_lost: None,
        started_at,
        duration_ms: now.millis_since(started_at),
    }
}

/// Age after which a build folder counts as left behind by a killed build.
pub(crate) const LEFT_BEHIND_AFTER: Duration = Duration::from_secs(24 * 3600);

/// Deletes folders of killed builds that are at least `min_age` old. A folder that cannot be deleted is left for the
/// next call.
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
            // The last readable manifest replaces a missing or damaged one.
            Err(ReleaseError::NoSuchRelease(_) | ReleaseError::ManifestDamaged { .. }) => {
                releases.last_readable(current.id).await
            }
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
) -> Result<(ReleaseOutcome, Option<Pin>), ReleaseBuildError> {
    let publication = Publication {
        manifest,
        files,
        cache: &options.cache_dir,
        expected: current.map(|current| current.seq),
        checks: &options.checks,
    };
    let published = releases.publish(publication).await.map_err(|error| match error {
        ReleaseError::Unknown { .. } => ReleaseBuildError::PublishUnknown(error),
        error => ReleaseBuildError::Publish(error),
    });
    Ok(match published? {
        Published::Published(_) => (ReleaseOutcome::Published, None),
        Published::Unchanged(_) => (ReleaseOutcome::Unchanged, None),
        Published::Pinned(current) => (ReleaseOutcome::Pinned, current.pinned),
        // Another writer published the same release first.
        Published::Lost(Some(other)) if other.id == manifest.id => (ReleaseOutcome::Unchanged, None),
        // The current release was pinned during this build.
        Published::Lost(Some(other)) if other.pinned.is_some() => (ReleaseOutcome::Pinned, other.pinned),
        Published::Lost(_) => (ReleaseOutcome::Lost, None),
    })
}

/// Lake versions from which the existing releases were built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LakeVersionsInUse {
    /// Table versions of the lake for each release, which a vacuum must keep.
    pub versions: Vec<BTreeMap<String, u64>>,
    /// Damaged manifests and log entries. A rollback to these releases is impossible, so that a vacuum need not keep
    /// their lake versions.
    pub unreadable: Vec<Unreadable>,
}

/// Returns the lake's table versions from which the existing releases were built.
///
/// # Errors
/// The releases cannot be listed.
#[boxed]
pub async fn lake_versions_in_use(releases: &ReleaseStore) -> Result<LakeVersionsInUse, ReleaseBuildError> {
    let listed = releases.listing_of_manifests().await;
    let (listing, manifests) = listed.map_err(ReleaseBuildError::Previous)?;
    let of = |manifest: Manifest| {
        let held = manifest.held.into_iter().map(|brand| brand.lake);
        held.chain([manifest.lake])
    };
    let versions: BTreeSet<_> = manifests.into_iter().flat_map(of).collect();
    Ok(LakeVersionsInUse {
        versions: versions.into_iter().collect(),
        unreadable: listing.unreadable,
    })
}
