use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use data_index::{CheckOptions, GcOptions, ListedRelease, Published, ReleaseError, ReleaseStore, Violation};
use data_model::ReleaseId;
use data_storage::Storage;
use pipeline_release::{ReleaseBuildError, ReleaseOptions, ReleaseOutcome, ReleaseReport, build_release, sweep_builds};
use serde::Serialize;
use serde_json::json;

use crate::cli::ReleaseCommand;
use crate::exit::{Outcome, lost_race, usage};
use crate::output::counted;
use crate::progress::BuildBar;
use crate::wiring::Context;

/// How `haat release build` was asked to build.
#[derive(Debug, Default)]
pub(crate) struct Build {
    pub(crate) full: bool,
    pub(crate) dry_run: bool,
    pub(crate) accept_collapse: bool,
}

/// What became of a build.
#[derive(Debug, Serialize)]
pub(crate) struct Built {
    #[serde(flatten)]
    pub(crate) report: ReleaseReport,
    /// The release that somebody had gone back from, where this build makes another one of the same lake.
    pub(crate) rolled_back: Option<ReleaseId>,
}

/// `haat release …`
pub(crate) async fn run(command: ReleaseCommand, context: Context) -> anyhow::Result<Outcome> {
    let storage = context.storage()?;
    let releases = context.releases(&storage);
    match command {
        ReleaseCommand::Build {
            full,
            dry_run,
            accept_collapse,
        } => {
            let built = build(
                &context,
                &storage,
                &Build {
                    full,
                    dry_run,
                    accept_collapse,
                },
            )
            .await?;
            context.output.print(&built, |out| write_report(out, &built.report))?;
            if let Some(lost) = lost(&built.report) {
                return Err(lost);
            }
        }
        ReleaseCommand::List => list(&context, &releases).await?,
        ReleaseCommand::Show { id } => {
            let id = match id {
                Some(id) => id.parse().context("release id").map_err(usage)?,
                None => {
                    releases
                        .current()
                        .await?
                        .context("there is no release yet: `haat release build`")?
                        .id
                }
            };
            let manifest = releases.manifest(id).await?;
            context.output.print(&manifest, |out| {
                writeln!(out, "{}", serde_json::to_string_pretty(&manifest)?)
            })?;
        }
        ReleaseCommand::Rollback { id, dry_run } => rollback(&context, &releases, id, dry_run).await?,
        ReleaseCommand::Gc { keep, dry_run } => collect(&context, &storage, keep, dry_run).await?,
    }
    Ok(Outcome::Done)
}

/// Removes old releases, and of the cache what none that stays needs.
async fn collect(context: &Context, storage: &Storage, keep: Option<usize>, dry_run: bool) -> anyhow::Result<()> {
    let releases = context.releases(storage);
    let options = GcOptions {
        keep_last: keep.unwrap_or(context.config.release.keep),
        min_age: Duration::from_secs(context.config.release.gc_min_age_s),
        dry_run,
    };
    let report = releases.collect(&options).await?;
    let cache_bytes = if dry_run {
        unneeded(context, storage, &report.releases, options.min_age).await?
    } else {
        // However short the age of files is, a folder in which a build may be at work stays.
        sweep_builds(&context.build_dir(storage), options.min_age.max(LEFT_BEHIND_AFTER));
        cleaned(context, storage, options.min_age).await?
    };
    let document = json!({
        "dry_run": dry_run, "releases": report.releases, "files": report.files, "bytes": report.bytes,
        "cache_bytes": cache_bytes,
    });
    context.output.print(&document, |out| {
        let verb = if dry_run { "would be removed" } else { "removed" };
        writeln!(
            out,
            "{}, {}, {} {verb}; {} of the cache {verb}",
            counted(report.releases.len(), "release"),
            counted(report.files, "file"),
            counted(report.bytes, "byte"),
            counted(cache_bytes, "byte")
        )?;
        let age = age(options.min_age.as_secs());
        writeln!(out, "(what is younger than {age} stays: release.gc_min_age_s)")
    })
}

/// Seconds in the largest unit that tells them exactly.
fn age(seconds: u64) -> String {
    match seconds {
        0 => "0 s".to_owned(),
        _ if seconds.is_multiple_of(3600) => format!("{} h", seconds / 3600),
        _ if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        _ => format!("{seconds} s"),
    }
}

/// Builds a release from the lake under `storage` and publishes it.
pub(crate) async fn build(context: &Context, storage: &Storage, build: &Build) -> anyhow::Result<Built> {
    let lake = context.lake_in(storage).await?;
    let cache_dir = context.cache_dir(storage);
    let options = ReleaseOptions {
        full: build.full,
        dry_run: build.dry_run,
        checks: CheckOptions {
            share_kept_min: context.config.release.collapse_share,
            collapse_confirmed: build.accept_collapse,
            ..CheckOptions::default()
        },
        plan: data_index::PlanOptions::default(),
        build: data_index::BuildOptions {
            embedder: context.embedder()?,
            ..data_index::BuildOptions::default()
        },
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        work_dir: context.build_dir(storage),
        cache_dir,
    };
    let bar = Arc::new(BuildBar::new(context.quiet));
    let releases = context.releases(storage);
    // An old release that cannot be read any more costs a warning, no build.
    let listed = releases.list().await.unwrap_or_default();
    let rolled_back = newer(&listed).map(|release| release.id);
    let report = match build_release(&lake, &releases, &options, bar, context.clock.as_ref()).await {
        Ok(report) => report,
        Err(error) => {
            let first = matches!(releases.current().await, Ok(None));
            let text = not_published(first, is_collapse(&error));
            return Err(anyhow::Error::new(error).context(text));
        }
    };
    if report.outcome == ReleaseOutcome::Published {
        clean_cache(context, storage).await;
    }
    let made = matches!(report.outcome, ReleaseOutcome::Published | ReleaseOutcome::DryRun);
    let rolled_back = rolled_back.filter(|_| made);
    if let Some(back) = rolled_back {
        tracing::warn!(
            release = %report.release,
            "release {back} was rolled back; the lake still has what it was made of, and so has this release"
        );
    }
    Ok(Built { report, rolled_back })
}

/// What a failed build leaves, and what may be done about it.
fn not_published(first: bool, collapse: bool) -> &'static str {
    match (first, collapse) {
        (true, true) => "no release was published (where one without products is right: --accept-collapse)",
        (true, false) => "no release was published",
        (false, true) => {
            "no release was published, the one before stays (where the fall of counts is right: --accept-collapse)"
        }
        (false, false) => "no release was published, the one before stays",
    }
}

/// What became of a build whose release another writer's came before.
pub(crate) fn lost(report: &ReleaseReport) -> Option<anyhow::Error> {
    let lost = report.outcome == ReleaseOutcome::Lost;
    lost.then(|| lost_race("another writer published first; build again"))
}

/// Whether nothing but a fall of counts kept a release from being published.
fn is_collapse(error: &ReleaseBuildError) -> bool {
    let ReleaseBuildError::Publish(ReleaseError::ChecksFailed { violations, .. }) = error else {
        return false;
    };
    let falls = |violation: &Violation| matches!(violation, Violation::Collapse { .. } | Violation::Empty);
    violations.iter().all(falls)
}

/// How old a cached file is that another process may still be about to open.
const CACHED_AT_LEAST: Duration = Duration::from_secs(3600);

/// Frees the cache of what no release needs that can still be rolled back to. It is the build's and, on the same machine, the query
/// server's: what that has open stays readable, and what it lacks it fetches again.
async fn clean_cache(context: &Context, storage: &Storage) {
    if let Err(error) = cleaned(context, storage, CACHED_AT_LEAST).await {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "the cache could not be cleaned"
        );
    }
}

/// How old a folder of a build is that nothing works in any more, as builds themselves take it.
const LEFT_BEHIND_AFTER: Duration = Duration::from_secs(24 * 3600);

/// How many bytes a collection that removes the releases `gone` would free of the cache.
async fn unneeded(
    context: &Context,
    storage: &Storage,
    gone: &[ReleaseId],
    min_age: Duration,
) -> Result<u64, ReleaseError> {
    let releases = context.releases(storage);
    let mut needed = BTreeSet::new();
    for kept in releases.list().await? {
        if !gone.contains(&kept.id) {
            let manifest = releases.manifest(kept.id).await?;
            needed.extend(manifest.files().map(|file| file.sha256.to_string()));
        }
    }
    let cache = context.cache_dir(storage);
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

async fn cleaned(context: &Context, storage: &Storage, min_age: Duration) -> Result<u64, ReleaseError> {
    let releases = context.releases(storage);
    let mut manifests = Vec::new();
    for kept in releases.list().await? {
        manifests.push(releases.manifest(kept.id).await?);
    }
    let manifests: Vec<_> = manifests.iter().collect();
    releases.clean_cache(&context.cache_dir(storage), &manifests, min_age)
}

/// One line for people.
pub(crate) fn write_report(out: &mut dyn std::io::Write, report: &ReleaseReport) -> std::io::Result<()> {
    let word = match report.outcome {
        ReleaseOutcome::Unchanged => "is current already",
        ReleaseOutcome::Published => "published",
        ReleaseOutcome::DryRun => "built, not published",
        ReleaseOutcome::Lost => "not published: another writer was first",
    };
    writeln!(
        out,
        "release {} {word}: {} of {}, {} indexed, {} kept, {} built, {} ms",
        report.release,
        counted(report.counts.products, "product"),
        counted(report.counts.brands, "brand"),
        report.products_indexed,
        counted(report.parts_kept, "part"),
        report.parts_built,
        report.duration_ms
    )
}

async fn list(context: &Context, releases: &ReleaseStore) -> anyhow::Result<()> {
    let listed = releases.list().await?;
    let rows: Vec<_> = listed
        .iter()
        .map(|release| {
            json!({
                "id": release.id, "current": release.current, "published_at": release.published_at,
                "built_at": release.built_at, "counts": release.counts, "parts": release.parts,
                "size_bytes": release.size_bytes,
            })
        })
        .collect();
    context.output.print(&json!({ "releases": rows }), |out| {
        for release in &listed {
            let mark = if release.current { "*" } else { " " };
            let (id, at) = (release.id, release.published_at);
            writeln!(
                out,
                "{mark} {id}  {at}  {}, {} bytes",
                counted(release.counts.products, "product"),
                release.size_bytes
            )?;
        }
        writeln!(out, "{}", counted(listed.len(), "release"))
    })
}

/// The newest release that was built before the current one: where somebody went back already, further back.
fn older(listed: &[ListedRelease]) -> Option<&ListedRelease> {
    let current = listed.iter().find(|release| release.current)?;
    let earlier = listed.iter().filter(|release| release.built_at < current.built_at);
    earlier.max_by_key(|release| release.built_at)
}

/// The newest release that was built after the current one: somebody went back from it.
fn newer(listed: &[ListedRelease]) -> Option<&ListedRelease> {
    let current = listed.iter().find(|release| release.current)?;
    let later = listed.iter().filter(|release| release.built_at > current.built_at);
    later.max_by_key(|release| release.built_at)
}

/// Where a roll-back goes that names no release. Where the current one's manifest is lost nobody can tell which were built
/// before it, and any that is there is better.
fn back(listed: &[ListedRelease], current: Option<ReleaseId>) -> anyhow::Result<ReleaseId> {
    let is_listed = |id: ReleaseId| listed.iter().any(|release| release.id == id);
    let Some(lost) = current.filter(|current| !is_listed(*current)) else {
        let older = older(listed).context("no release is older than the current one; name the one to go to")?;
        return Ok(older.id);
    };
    let newest = listed.iter().max_by_key(|release| release.built_at);
    let newest = newest.with_context(|| {
        format!(
            "the manifest of the current release {lost} is missing, and there is no other release: `haat release build`"
        )
    })?;
    tracing::warn!(
        "the manifest of the current release {lost} is missing; {} is the newest of those that are there",
        newest.id
    );
    Ok(newest.id)
}

async fn rollback(context: &Context, releases: &ReleaseStore, id: Option<String>, dry_run: bool) -> anyhow::Result<()> {
    let listed = releases.list().await?;
    let from = releases.current().await?.map(|current| current.id);
    let to: ReleaseId = match id {
        Some(id) => id.parse().context("release id").map_err(usage)?,
        None => back(&listed, from)?,
    };
    anyhow::ensure!(
        listed.iter().any(|release| release.id == to),
        "there is no release {to}"
    );
    if dry_run {
        let damage = releases.verify(&releases.manifest(to).await?).await?;
        anyhow::ensure!(damage.is_empty(), "release {to} is damaged: {}", damage[0].kind);
    }
    if !dry_run && let Published::Lost(_) = releases.rollback(to).await? {
        return Err(lost_race(
            "another writer changed the current release first; look again",
        ));
    }
    context.output.print(
        &json!({ "from": from, "to": to, "changed": !dry_run && from != Some(to) }),
        |out| {
            let verb = if dry_run { "would be" } else { "is" };
            writeln!(out, "{to} {verb} the current release")
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_told_in_the_largest_unit_that_fits() {
        let told = [0, 59, 60, 1_800, 3_600, 5_400, 86_400].map(age);
        assert_eq!(told, ["0 s", "59 s", "1 min", "30 min", "1 h", "90 min", "24 h"]);
    }
}
