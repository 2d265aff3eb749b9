use std::io::{self, Write};
use std::sync::Arc;

use data_lake::{Lake, LakeError, LostData, RepairKind, RepairReport};
use data_model::BrandSlug;
use data_release::{LogRepair, MendedObject};
use data_storage::Storage;
use futures::StreamExt;
use pipeline_crawl::{RegisteredBrand, Registry, RegistryRepair};
use serde::Serialize;

use crate::exit::{Outcome, usage};
use crate::output::counted;
use crate::wiring::Context;

/// Result of an executed or planned repair.
#[derive(Debug, Serialize)]
struct RepairSummary {
    #[serde(flatten)]
    lake: RepairReport,
    registry: RegistryRepair,
    releases: Vec<MendedObject>,
    dry_run: bool,
}

impl RepairSummary {
    /// Returns the exit outcome. A repair is complete if everything was restored except rows that the next crawl brings
    /// back.
    const fn outcome(&self) -> Outcome {
        let is_all_known =
            self.lake.stuck.is_empty() && self.registry.lost.is_empty() && self.registry.clashing.is_empty();
        match (self.lake.complete, is_all_known) {
            (false, _) => Outcome::Failed,
            (true, false) => Outcome::Partial,
            (true, true) => Outcome::Done,
        }
    }
}

/// Lists the losses of the lake, the registry and the release log. Repairs them, or drops what cannot be repaired.
pub(super) async fn repair(context: &Context, storage: &Storage, dry_run: bool) -> anyhow::Result<Outcome> {
    context.require_home().await?;
    let at = storage.child("lake");
    let lake = match at.store().list(None).next().await {
        Some(_) => lake(context, &at, dry_run).await?,
        // The registry and the releases may be damaged even without a lake.
        None => RepairReport {
            complete: true,
            ..RepairReport::default()
        },
    };
    let brands = lake.brands.iter();
    let known: Vec<_> = brands
        .filter_map(|row| RegisteredBrand::of_lake(&row.brand, row.refreshed_at))
        .collect();
    let now = context.clock.now();
    let registry = Registry::repair(storage, &known, now, dry_run).await?;
    let releases = context.releases(storage).mend(dry_run).await?;
    let report = RepairSummary {
        lake,
        registry,
        releases,
        dry_run,
    };
    context.output.print(&report, |out| {
        write_bookkeeping(out, &report)?;
        write(out, &report)
    })?;
    Ok(report.outcome())
}

async fn lake(context: &Context, at: &Storage, dry_run: bool) -> anyhow::Result<RepairReport> {
    let clock = Arc::clone(&context.clock);
    // The future is boxed because it is large.
    let repaired = Box::pin(Lake::repair(at, context.lake_config(), clock, dry_run)).await;
    repaired.map_err(|error| match error {
        LakeError::Buckets { .. } | LakeError::BucketsUnknown { .. } => {
            usage(anyhow::Error::new(error).context("lake.buckets"))
        }
        error => anyhow::Error::new(error).context("lake"),
    })
}

fn would(dry_run: bool, done: &str) -> String {
    if dry_run {
        format!("would be {done}")
    } else {
        done.to_owned()
    }
}

/// Writes the lines about the registry and the release log.
fn write_bookkeeping(out: &mut dyn Write, report: &RepairSummary) -> io::Result<()> {
    let would = |done: &str| would(report.dry_run, done);
    let listed = |brands: &[BrandSlug]| brands.iter().map(BrandSlug::as_str).collect::<Vec<_>>().join(", ");
    let registry = &report.registry;
    for path in &registry.mended {
        writeln!(out, "{path}: {} from its copy", would("rewritten"))?;
    }
    for path in &registry.lost {
        let what = would("replaced by an event without effect");
        writeln!(out, "{path}: lost, and its copy too: {what}")?;
    }
    for (brands, what) in [
        (
            &registry.registered,
            would("registered again with the data in the lake"),
        ),
        (
            &registry.clashing,
            "not registered: another store uses the slug".to_owned(),
        ),
        (
            &registry.unsure,
            "registered but not in the lake: a lost event may have removed them; `haat brands remove` removes them \
             again"
                .to_owned(),
        ),
    ] {
        if !brands.is_empty() {
            writeln!(out, "brands {}: {what}", listed(brands))?;
        }
    }
    if !registry.lost.is_empty() {
        writeln!(
            out,
            "brands that were only in a lost event and never crawled are unknown, and so are names and currencies set \
             by it: register them again with `haat brands add`"
        )?;
    }
    for MendedObject { path, how } in &report.releases {
        let what = match how {
            LogRepair::Copy => format!("{} from its copy", would("rewritten")),
            LogRepair::Manifest(release) => format!(
                "{}: it published {release}, according to the manifest",
                would("rewritten")
            ),
            LogRepair::Unknown(release) => format!(
                "lost, and its copy too; {release} {}. It is unknown whether the entry was a rollback, a pin or an \
                 unpin: repeat it with `haat release rollback`, `pin` or `unpin`",
                would("kept current")
            ),
            LogRepair::Removed => format!("lost, and its copy too; {}: later entries apply", would("removed")),
            LogRepair::Refusal => would("removed"),
            LogRepair::Nothing => {
                "lost, and its release is unknown: run `haat release build` to publish a new one".to_owned()
            }
        };
        writeln!(out, "releases/{path}: {what}")?;
    }
    Ok(())
}

fn write(out: &mut dyn Write, whole: &RepairSummary) -> io::Result<()> {
    let (report, dry_run) = (&whole.lake, whole.dry_run);
    let would = |done: &str| would(dry_run, done);
    for one in &report.repaired {
        let what = match one.how {
            RepairKind::Checkpoint => format!("{} from the log", would("rewritten")),
            RepairKind::Layout => format!("{} from the tables", would("rewritten")),
            RepairKind::End => would("rewritten"),
            RepairKind::Record => format!("{}: the next crawl repeats the interrupted work", would("removed")),
        };
        writeln!(out, "lake/{}: {what}", one.path)?;
    }
    for lost in &report.lost {
        writeln!(out, "lake/{}: {} {}", lost.path, held(lost), would("dropped"))?;
        if !lost.brands.is_empty() {
            let brands: Vec<&str> = lost.brands.iter().map(|slug| slug.as_str()).collect();
            writeln!(out, "  of {}: {}", brands.join(", "), comes_back(lost))?;
        } else if !lost.comes_back {
            writeln!(out, "  {}", comes_back(lost))?;
        }
    }
    for stuck in &report.stuck {
        writeln!(out, "lake/{}: {}", stuck.path, stuck.reason)?;
    }
    let mended = whole.registry.mended.len() + whole.registry.lost.len() + whole.releases.len();
    let (repaired, lost) = (report.repaired.len() + mended, report.lost.len());
    let brands = whole.registry.registered.len() + whole.registry.clashing.len();
    match (repaired + lost + brands + report.stuck.len(), dry_run) {
        _ if !report.complete => writeln!(
            out,
            "the lake cannot be opened: further files may be lost that are not listed here"
        ),
        (0, _) => writeln!(out, "nothing is lost"),
        (_, true) => writeln!(out, "nothing was written"),
        (_, false) => writeln!(
            out,
            "{} rewritten, {} dropped{}",
            counted(repaired, "object"),
            counted(lost, "file"),
            report.tick.map_or_else(String::new, |tick| format!(" by tick {tick}"))
        ),
    }
}

fn held(lost: &LostData) -> String {
    match lost.rows {
        Some(rows) => counted(rows, "row"),
        None => counted(lost.bytes, "byte"),
    }
}

const fn comes_back(lost: &LostData) -> &'static str {
    if lost.comes_back {
        "their next crawl restores it"
    } else {
        "it cannot be restored"
    }
}
