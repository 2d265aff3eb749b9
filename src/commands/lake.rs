use std::time::Duration;

use anyhow::Context as _;
use data_lake::{Lake, VacuumKeep};
use data_storage::Storage;
use serde_json::{Value, json};

use crate::cli::LakeCommand;
use crate::config::RETENTION_HOURS_MAX;
use crate::exit::{Outcome, usage};
use crate::output::counted;
use crate::wiring::Context;

/// `haat lake …`
pub(crate) async fn run(command: LakeCommand, context: Context) -> anyhow::Result<Outcome> {
    let storage = context.storage()?;
    let lake = context.lake_in(&storage).await?;
    match command {
        LakeCommand::Tables => {
            let tables = tables(&lake).await?;
            context.output.print(&json!({ "tables": tables }), |out| {
                for table in &tables {
                    let name = table["name"].as_str().unwrap_or_default();
                    writeln!(
                        out,
                        "{name:20} version {:>6}  {:>12} rows",
                        table["version"], table["rows"]
                    )?;
                }
                Ok(())
            })?;
        }
        LakeCommand::Compact { dry_run } => {
            let report = lake.compact(dry_run).await?;
            let merged: Vec<Value> = report
                .merged
                .iter()
                .map(|merged| {
                    let table = merged.table.as_str();
                    json!({ "table": table, "partition": merged.partition, "files": merged.files, "bytes": merged.bytes })
                })
                .collect();
            context.output.print(
                &json!({ "dry_run": dry_run, "merged": merged, "tick": report.tick }),
                |out| {
                    let verb = if dry_run { "would be merged" } else { "merged" };
                    for merged in &report.merged {
                        let (table, partition) =
                            (merged.table.as_str(), merged.partition.as_deref().unwrap_or_default());
                        writeln!(
                            out,
                            "{table} {partition}: {} {verb}, {}",
                            counted(merged.files, "file"),
                            counted(merged.bytes, "byte")
                        )?;
                    }
                    writeln!(out, "{}", counted(report.merged.len(), "merge"))
                },
            )?;
        }
        LakeCommand::Vacuum {
            dry_run,
            retention_hours,
        } => vacuum(&context, (&storage, &lake), dry_run, retention_hours).await?,
    }
    Ok(Outcome::Done)
}

/// Removes files of the lake that neither the retention nor a release needs.
async fn vacuum(
    context: &Context,
    (storage, lake): (&Storage, &Lake),
    dry_run: bool,
    retention_hours: Option<u64>,
) -> anyhow::Result<()> {
    let hours = retention_hours.unwrap_or(context.config.lake.retention_hours);
    if hours > RETENTION_HOURS_MAX {
        return Err(usage(anyhow::anyhow!(
            "--retention-hours must be {RETENTION_HOURS_MAX} at most, not {hours}: so long the lake remembers removed files"
        )));
    }
    let in_use = pipeline_release::lake_versions_in_use(&context.releases(storage)).await?;
    super::release::warn_of(&in_use.unreadable);
    let keep = VacuumKeep {
        retention: Duration::from_secs(hours.saturating_mul(3600)),
        versions: in_use.versions,
        dry_run,
    };
    let report = lake.vacuum(&keep).await?;
    let mut document = json!({ "dry_run": dry_run, "files": report.files, "bytes": report.bytes });
    super::release::add_unreadable(&mut document, &in_use.unreadable);
    context.output.print(&document, |out| {
        for file in &report.files {
            writeln!(out, "{file}")?;
        }
        let verb = if dry_run { "would be removed" } else { "removed" };
        let files = counted(report.files.len(), "file");
        writeln!(out, "{files}, {} {verb}", counted(report.bytes, "byte"))
    })?;
    Ok(())
}

/// Every table with its version and rows.
pub(crate) async fn tables(lake: &Lake) -> anyhow::Result<Vec<Value>> {
    let snapshot = lake.snapshot().await?;
    let session = lake.session(&snapshot).await?;
    let mut tables = Vec::new();
    for (name, version) in snapshot.versions() {
        let rows = session
            .table(name.as_str())
            .await?
            .count()
            .await
            .with_context(|| name.clone())?;
        tables.push(json!({ "name": name, "version": version, "rows": rows }));
    }
    Ok(tables)
}
