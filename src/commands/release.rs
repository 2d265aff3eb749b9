mod current;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use data_index::Manifest;
use data_lake::Lake;
use data_release::{CheckOptions, GcOptions, Pin, ReleaseError, ReleaseStore, Unreadable, Violation};
use data_storage::Storage;
use pipeline_crawl::Registry;
use pipeline_quality::AcceptedBrands;
use pipeline_release::{
    BuildOutcome, CollectionReport, ReleaseBuildError, ReleaseOptions, ReleaseOutcome, ReleaseReport, TidyOptions,
    UpkeepReport, collect_garbage, make_release,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::ReleaseCommand;
use crate::exit::{Outcome, lost_race, usage};
use crate::output::counted;
use crate::progress::StepBar;
use crate::wiring::Context;

/// The options of `haat release build`.
#[derive(Debug, Default)]
pub(crate) struct Build {
    pub(crate) full: bool,
    pub(crate) dry_run: bool,
    pub(crate) accept_collapse: bool,
    pub(crate) accepted: AcceptedBrands,
    pub(crate) despite_pin: bool,
}

pub(crate) async fn run(command: ReleaseCommand, context: Context) -> anyhow::Result<Outcome> {
    let storage = context.storage()?;
    let releases = context.releases(&storage);
    match command {
        ReleaseCommand::Build {
            full,
            dry_run,
            accept_collapse,
            accept_quality,
            accept_brand,
            despite_pin,
        } => {
            if !accept_brand.is_empty() {
                let registry = Registry::load(&storage).await?;
                registry
                    .check_named(&accept_brand)
                    .map_err(|error| usage(error.into()))?;
            }
            let how = Build {
                full,
                dry_run,
                accept_collapse,
                accepted: super::quality::accepted(accept_quality, accept_brand),
                despite_pin,
            };
            let built = build(&context, &storage, &how).await?;
            context.output.print(&built, |out| write_report(out, &built.report))?;
            if let Some(lost) = lost(&built.report) {
                return Err(lost);
            }
            return Ok(Outcome::partial_if(built.needs_a_look()));
        }
        ReleaseCommand::List => list(&context, &releases).await?,
        ReleaseCommand::Show { id } => show(&context, &releases, id).await?,
        ReleaseCommand::Rollback { id, pin, dry_run } => {
            current::rollback(&context, &releases, id, pin, dry_run).await?;
        }
        ReleaseCommand::Pin { id } => current::pin(&context, &releases, id).await?,
        ReleaseCommand::Unpin => current::unpin(&context, &releases).await?,
        ReleaseCommand::Gc {
            keep,
            drop_damaged,
            dry_run,
        } => collect(&context, &storage, keep, drop_damaged, dry_run).await?,
    }
    Ok(Outcome::Done)
}

/// Warns about each damaged manifest and log entry, because they are skipped.
pub(crate) fn warn_of(unreadable: &[Unreadable]) {
    for unreadable in unreadable {
        tracing::warn!(
            "{unreadable}; it is skipped: restore it from a copy, or discard it with `haat release gc --drop-damaged`"
        );
    }
}

/// Adds damaged manifests and log entries to a command's JSON document.
pub(crate) fn add_unreadable(document: &mut Value, unreadable: &[Unreadable]) {
    document["unreadable"] = json!(unreadable);
}

async fn show(context: &Context, releases: &ReleaseStore, id: Option<String>) -> anyhow::Result<()> {
    let current = releases.current().await?;
    let id = match id {
        Some(id) => id.parse().context("release id").map_err(usage)?,
        None => current.ok_or(ReleaseError::NoRelease)?.id,
    };
    let current = current.filter(|current| current.id == id);
    let shown = ManifestView {
        manifest: releases.manifest(id).await?,
        pinned: current.and_then(|current| current.pinned),
    };
    context
        .output
        .print(&shown, |out| writeln!(out, "{}", serde_json::to_string_pretty(&shown)?))
}

/// Manifest, and true if its release is pinned.
#[derive(Debug, Serialize)]
struct ManifestView {
    #[serde(flatten)]
    manifest: Manifest,
    #[serde(skip_serializing_if = "Option::is_none")]
    pinned: Option<Pin>,
}

/// Removes old releases, and cached files that no other release needs.
async fn collect(
    context: &Context,
    storage: &Storage,
    keep: Option<usize>,
    drop_damaged: bool,
    dry_run: bool,
) -> anyhow::Result<()> {
    let releases = context.releases(storage);
    let options = GcOptions {
        keep_last: keep.unwrap_or(context.config.release.keep),
        min_age: Duration::from_secs(context.config.release.gc_min_age_s),
        drop_damaged,
        dry_run,
    };
    let (cache, builds) = (context.cache_dir(storage), context.build_dir(storage));
    let CollectionReport { report, cache_bytes } = collect_garbage(&releases, &options, &cache, &builds).await?;
    warn_of(&report.unreadable);
    let document = json!({
        "dry_run": dry_run, "releases": report.releases, "files": report.files, "bytes": report.bytes,
        "cache_bytes": cache_bytes, "dropped": report.dropped, "unreadable": report.unreadable, "held": report.held,
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
        for dropped in &report.dropped {
            writeln!(out, "discarded: {dropped}")?;
        }
        if report.held {
            writeln!(
                out,
                "files that damaged manifests or log entries may need were kept; see `haat doctor`"
            )?;
        }
        let age = age(options.min_age.as_secs());
        writeln!(out, "(files younger than {age} are kept: release.gc_min_age_s)")
    })
}

/// Formats seconds in the largest unit that divides them exactly.
fn age(seconds: u64) -> String {
    match seconds {
        0 => "0 s".to_owned(),
        _ if seconds.is_multiple_of(3600) => format!("{} h", seconds / 3600),
        _ if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        _ => format!("{seconds} s"),
    }
}

/// Returns the options of a build from the configuration and the command line.
pub(crate) fn options(context: &Context, storage: &Storage, build: &Build) -> anyhow::Result<ReleaseOptions> {
    Ok(ReleaseOptions {
        full: build.full,
        dry_run: build.dry_run,
        checks: CheckOptions {
            share_kept_min: context.config.release.collapse_share,
            collapse_confirmed: build.accept_collapse,
            despite_pin: build.despite_pin,
            ..CheckOptions::default()
        },
        quality: Some(super::quality::gate(context, storage, build.accepted.clone())),
        plan: data_release::PlanOptions::default(),
        build: data_index::BuildOptions {
            embedder: context.embedder()?,
            ..data_index::BuildOptions::default()
        },
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        work_dir: context.build_dir(storage),
        cache_dir: context.cache_dir(storage),
    })
}

/// Builds a release from the lake under `storage` and publishes it.
pub(crate) async fn build(context: &Context, storage: &Storage, build: &Build) -> anyhow::Result<BuildOutcome> {
    let lake = context.lake_in(storage).await?;
    let options = options(context, storage, build)?;
    let bar = Arc::new(StepBar::of_build(context.quiet));
    let releases = context.releases(storage);
    // The future is boxed because it is large and would take much stack space.
    match Box::pin(make_release(&lake, &releases, &options, bar, context.clock.as_ref())).await {
        Ok(built) => {
            if !build.dry_run {
                tidy(
                    context,
                    storage,
                    &lake,
                    built.report.outcome == ReleaseOutcome::Published,
                )
                .await;
            }
            Ok(built)
        }
        Err(error @ ReleaseBuildError::PublishUnknown(_)) => {
            Err(anyhow::Error::new(error).context("it is unknown whether a release was published"))
        }
        Err(error) => {
            let first = matches!(releases.current().await, Ok(None));
            let text = match &error {
                ReleaseBuildError::HeldBack(_) => held_back(first),
                error => not_published(first, is_collapse(error)),
            };
            Err(anyhow::Error::new(error).context(text))
        }
    }
}

/// Runs a limited share of the maintenance after a crawl or a build. The next run repeats failed work.
pub(crate) async fn tidy(context: &Context, storage: &Storage, lake: &Lake, published: bool) {
    let gc = GcOptions {
        keep_last: context.config.release.keep,
        min_age: Duration::from_secs(context.config.release.gc_min_age_s),
        ..GcOptions::default()
    };
    let retention = Duration::from_secs(context.config.lake.retention_hours.saturating_mul(3600));
    let options = TidyOptions::new(retention, gc);
    let releases = context.releases(storage);
    let (cache, build) = (context.cache_dir(storage), context.build_dir(storage));
    // The future is boxed because it is large and would take much stack space.
    let tidied = Box::pin(pipeline_release::tidy(
        lake, &releases, &options, published, &cache, &build,
    ));
    match tidied.await {
        Ok(UpkeepReport {
            merges,
            files,
            releases,
        }) => tracing::debug!(merges, files, releases, "tidied"),
        Err(error) => tracing::warn!(
            error = &error as &dyn std::error::Error,
            "maintenance is postponed to the next build"
        ),
    }
}

/// Returns the result and advice for a build whose data exceeds a quality threshold.
fn held_back(first: bool) -> &'static str {
    if first {
        "no release was published (`haat quality` shows why; to accept the data: --accept-quality)"
    } else {
        "no release was published, the previous one stays current (`haat quality` shows why; to accept the data: \
         --accept-quality)"
    }
}

/// Returns the result and advice for a failed build.
fn not_published(first: bool, collapse: bool) -> &'static str {
    match (first, collapse) {
        (true, true) => "no release was published (to accept a release without products: --accept-collapse)",
        (true, false) => "no release was published",
        (false, true) => {
            "no release was published, the previous one stays current (to accept the fall of counts: --accept-collapse)"
        }
        (false, false) => "no release was published, the previous one stays current",
    }
}

/// Returns an error if another writer published before this build.
pub(crate) fn lost(report: &ReleaseReport) -> Option<anyhow::Error> {
    let lost = report.outcome == ReleaseOutcome::Lost;
    lost.then(|| lost_race("another writer published first; build again"))
}

/// True if the release was refused only because counts fell.
fn is_collapse(error: &ReleaseBuildError) -> bool {
    let ReleaseBuildError::Publish(ReleaseError::ChecksFailed { violations, .. }) = error else {
        return false;
    };
    let falls = |violation: &Violation| matches!(violation, Violation::Collapse { .. } | Violation::Empty);
    violations.iter().all(falls)
}

/// Writes one line for people.
pub(crate) fn write_report(out: &mut dyn std::io::Write, report: &ReleaseReport) -> std::io::Result<()> {
    if let Some(pin) = report.pinned {
        return writeln!(
            out,
            "release {} is {pin}: nothing was published; `haat release unpin` or --despite-pin lets builds publish \
             again",
            report.previous.unwrap_or(report.release)
        );
    }
    let word = match report.outcome {
        ReleaseOutcome::Unchanged => "is current already",
        ReleaseOutcome::Published => "published",
        ReleaseOutcome::DryRun => "built, not published",
        ReleaseOutcome::Lost => "not published: another writer published first",
        ReleaseOutcome::Pinned => "not published: another release is pinned",
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
    )?;
    for brand in report.held.iter().take(NAMED_MAX) {
        super::quality::write_held(out, brand)?;
    }
    write_losses(out, report)
}

/// Maximum number of brands to name as held back, or as having lost rows.
const NAMED_MAX: usize = 20;

/// Writes what the release lost because files of the lake are missing or damaged.
fn write_losses(out: &mut dyn std::io::Write, report: &ReleaseReport) -> std::io::Result<()> {
    for brand in report.unreadable.iter().take(NAMED_MAX) {
        let file = brand.files.first().map_or_else(
            || "`haat lake repair` dropped some of its rows".to_owned(),
            |file| format!("lake/{file} is missing or damaged"),
        );
        let what = if brand.kept {
            "keeps its earlier data"
        } else {
            "is left out"
        };
        writeln!(out, "{} {what}: {file}; its next crawl restores it", brand.brand)?;
    }
    if let more @ 1.. = report.unreadable.len().saturating_sub(NAMED_MAX) {
        writeln!(out, "… and {}", counted(more, "more brand"))?;
    }
    match &report.history_lost {
        Some(file) => writeln!(
            out,
            "lake/{file} is missing or damaged: rebuilt parts lack the price history in this file"
        ),
        None => Ok(()),
    }
}

async fn list(context: &Context, releases: &ReleaseStore) -> anyhow::Result<()> {
    let listing = releases.listing().await?;
    warn_of(&listing.unreadable);
    let listed = &listing.releases;
    let rows: Vec<_> = listed
        .iter()
        .map(|release| {
            json!({
                "id": release.id, "current": release.current, "published_at": release.published_at,
                "built_at": release.built_at, "counts": release.counts, "parts": release.parts,
                "size_bytes": release.size_bytes, "pinned": release.pinned,
            })
        })
        .collect();
    let document = json!({ "releases": rows, "unreadable": listing.unreadable });
    context.output.print(&document, |out| {
        for release in listed {
            let mark = if release.current { "*" } else { " " };
            let (id, at) = (release.id, release.published_at);
            let products = counted(release.counts.products, "product");
            writeln!(out, "{mark} {id}  {at}  {products}, {} bytes", release.size_bytes)?;
            if let Some(pin) = release.pinned {
                writeln!(out, "  {pin}")?;
            }
        }
        writeln!(out, "{}", counted(listed.len(), "release"))
    })
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
