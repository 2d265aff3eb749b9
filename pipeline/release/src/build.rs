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

/// The way in which a release is made.
#[derive(Debug, Clone)]
pub struct ReleaseOptions {
    /// Index everything anew instead of sharing parts with the release before.
    pub full: bool,
    /// Build and assemble, but publish nothing.
    pub dry_run: bool,
    /// The rules by which a release must not be published.
    pub checks: CheckOptions,
    /// The rules by which the quality of the data holds a release back; `None`: it never does.
    pub quality: Option<Gate>,
    /// The rules by which parts are kept, rewritten and merged.
    pub plan: PlanOptions,
    /// The way in which parts are built.
    pub build: BuildOptions,
    /// Parts built at the same time.
    pub threads: usize,
    /// Folder for the new files; emptied of what this build wrote when it ends.
    pub work_dir: PathBuf,
    /// Folder that the release is fetched to for its checks: the query server's cache on the same machine.
    pub cache_dir: PathBuf,
}

/// The outcome of a build.
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
    /// The current release is pinned: nothing was built, or nothing published. The report is about the pinned release.
    Pinned,
}

/// The work of a build.
#[derive(Debug, Clone, Serialize)]
pub struct ReleaseReport {
    /// Its outcome.
    pub outcome: ReleaseOutcome,
    /// Its id.
    pub release: ReleaseId,
    /// The release before, where there was one.
    pub previous: Option<ReleaseId>,
    /// The pin that kept this build from being published.
    pub pinned: Option<Pin>,
    /// Its numbers.
    pub counts: Counts,
    /// Parts shared with the release before.
    pub parts_kept: usize,
    /// Parts built anew.
    pub parts_built: usize,
    /// Products indexed.
    pub products_indexed: u64,
    /// Brands that are as they were, since the lake's data on them is doubted.
    pub held: Vec<HeldBrand>,
    /// Brands that cannot be read from the lake, since files of it are missing or damaged: they are as they were.
    pub unreadable: Vec<UnreadableBrand>,
    /// The first file of the price history that is missing or damaged: what was built anew lacks what it held.
    pub history_lost: Option<String>,
    /// The beginning of the build.
    pub started_at: Timestamp,
    /// Its duration.
    pub duration_ms: i64,
}

/// Builds the next release and publishes it.
///
/// A failure is recorded in the store of releases, see [`data_release::Refusal`].
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
    if let Some(current) = current
        && let Some(pin) = current.pinned
        && !options.dry_run
        && !options.checks.despite_pin
    {
        return Ok(pinned(releases, current, pin, started_at, clock.now()).await);
    }
    let built = build(lake, releases, current, options, progress, clock, started_at).await;
    match &built {
        // The store of releases records what it refuses itself.
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
        // Boxed: a build is a large future.
        match Box::pin(bench.make(clock, &mut indexing)).await {
            Ok(made) => break made,
            // Lost files are looked for at once, so that a build begins anew once or twice, however many there are.
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
    // Boxed for the same reason.
    let manifest = made.manifest.with_held(held).map_err(AssembleError::Json);
    let manifest = manifest.map_err(ReleaseBuildError::Assemble)?;
    let manifest = Box::pin(with_matches(manifest, bench.previous.as_ref(), places)).await?;
    let manifest = &Box::pin(with_gone(manifest, &snapshot, files.path())).await?;
    if let Err(error) = lake.note_damage(bench.losses.files()).await {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "the damage could not be noted for the next crawl"
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

/// The things that a build works with.
struct Bench<'a> {
    snapshot: &'a LakeSnapshot,
    previous: Option<Manifest>,
    losses: Losses,
    options: &'a ReleaseOptions,
    progress: Arc<dyn BuildProgress>,
    files: &'a Path,
}

/// A release that was put together.
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

    /// Builds and assembles; says in `indexing` which stores it came to read.
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

    /// Of a full build: what cannot be read is taken from the release before, and nothing else.
    async fn keep_from(&mut self, releases: &ReleaseStore, current: Option<Current>) -> Result<(), ReleaseBuildError> {
        if !self.options.full {
            return Ok(());
        }
        let whole = previous(releases, current, false).await?;
        self.previous = whole.map(|manifest| self.losses.only(self.snapshot, manifest));
        Ok(())
    }
}

/// The brands that are to stay as they are, beside what the current release was made of; an error where all of them are.
async fn judge(
    gate: &Gate,
    lake: &Lake,
    snapshot: &LakeSnapshot,
    releases: &ReleaseStore,
    current: Option<Current>,
    now: Timestamp,
) -> Result<Vec<HeldBrand>, ReleaseBuildError> {
    // The last readable manifest stands in for one that cannot be read: brands that it holds back stay so.
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

/// The report of a build that was not begun, since the current release is pinned.
async fn pinned(
    releases: &ReleaseStore,
    current: Current,
    pin: Pin,
    started_at: Timestamp,
    now: Timestamp,
) -> ReleaseReport {
    // A pin holds whether or not the manifest can be read.
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

/// Age at which a folder of an earlier build is taken for one that a kill left behind.
pub(crate) const LEFT_BEHIND_AFTER: Duration = Duration::from_secs(24 * 3600);

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
            // The last readable manifest stands in for one that is gone or damaged.
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
        // The other writer was first with the very same.
        Published::Lost(Some(other)) if other.id == manifest.id => (ReleaseOutcome::Unchanged, None),
        // It was pinned while this was built.
        Published::Lost(Some(other)) if other.pinned.is_some() => (ReleaseOutcome::Pinned, other.pinned),
        Published::Lost(_) => (ReleaseOutcome::Lost, None),
    })
}

/// The versions of the lake from which the releases that can still be had were built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LakeVersionsInUse {
    /// The lake's table versions of each release: what a vacuum must keep.
    pub versions: Vec<BTreeMap<String, u64>>,
    /// Damaged manifests and entries of the log. Nobody can go back to the releases that they stand for: what those were
    /// built from is not kept.
    pub unreadable: Vec<Unreadable>,
}

/// The lake's table versions that a release still to be had was built from.
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
