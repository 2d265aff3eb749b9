use std::io::{self, Write};
use std::sync::Arc;

use anyhow::Context as _;
use data_lake::{Lake, LakeError, LostData, RepairReport, Repaired};
use data_storage::Storage;
use futures::StreamExt;
use serde_json::json;

use crate::exit::{Outcome, usage};
use crate::output::counted;
use crate::wiring::Context;

/// Lists what is lost of the lake, and mends or gives it up.
pub(super) async fn repair(context: &Context, storage: &Storage, dry_run: bool) -> anyhow::Result<Outcome> {
    context.require_home().await?;
    let at = storage.child("lake");
    anyhow::ensure!(
        at.store().list(None).next().await.is_some(),
        "there is no lake under {}",
        storage.url()
    );
    let clock = Arc::clone(&context.clock);
    // Boxed: it opens the lake and reads all of it.
    let repaired = Box::pin(Lake::repair(&at, context.lake_config(), clock, dry_run)).await;
    let report = repaired.map_err(|error| match error {
        LakeError::Buckets { .. } => usage(anyhow::Error::new(error).context("lake.buckets")),
        error => anyhow::Error::new(error).context("lake"),
    })?;
    let mut document = serde_json::to_value(&report).context("report")?;
    document["dry_run"] = json!(dry_run);
    context.output.print(&document, |out| write(out, &report, dry_run))?;
    Ok(match (report.complete, report.stuck.is_empty()) {
        (false, _) => Outcome::Failed,
        (true, false) => Outcome::Partial,
        (true, true) => Outcome::Done,
    })
}

fn write(out: &mut dyn Write, report: &RepairReport, dry_run: bool) -> io::Result<()> {
    let would = |done: &str| {
        if dry_run {
            format!("would be {done}")
        } else {
            done.to_owned()
        }
    };
    for one in &report.repaired {
        let what = match one.how {
            Repaired::Entry => format!("{} from its copy", would("written again")),
            Repaired::Checkpoint => format!("{} from the log", would("written again")),
            Repaired::End => would("written again"),
            Repaired::Record => format!("{}: the next crawl does again what was begun", would("removed")),
        };
        writeln!(out, "lake/{}: {what}", one.path)?;
    }
    for lost in &report.lost {
        writeln!(out, "lake/{}: {} {}", lost.path, held(lost), would("given up"))?;
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
    let (repaired, lost) = (report.repaired.len(), report.lost.len());
    match (repaired + lost + report.stuck.len(), dry_run) {
        _ if !report.complete => writeln!(
            out,
            "the lake cannot be opened: files of it may be lost of which nothing is said here"
        ),
        (0, _) => writeln!(out, "nothing is lost"),
        (_, true) => writeln!(out, "nothing was written"),
        (_, false) => writeln!(
            out,
            "{} written again, {} given up{}",
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
        "their next crawl brings it back"
    } else {
        "nothing brings it back"
    }
}
