mod files;
mod repair;

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Context as _;
use data_lake::{AsOf, Lake, LakeError, TableName};
use data_storage::Storage;
use pipeline_release::vacuum_lake;
use serde_json::{Value, json};

use crate::cli::LakeCommand;
use crate::config::RETENTION_HOURS_MAX;
use crate::exit::{Outcome, usage};
use crate::output::counted;
use crate::sql_over_wire;
use crate::wiring::Context;

pub(crate) async fn run(command: LakeCommand, context: Context) -> anyhow::Result<Outcome> {
    let storage = context.storage()?;
    // `repair` must also work on lakes that cannot be opened.
    if let LakeCommand::Repair { dry_run } = command {
        return repair::repair(&context, &storage, dry_run).await;
    }
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
        LakeCommand::Files(args) => Box::pin(files::files(&context, &storage, &lake, args)).await?,
        LakeCommand::Serve { listen } => sql_over_wire::serve_lake(&context, &storage, listen).await?,
        LakeCommand::Restore { as_of, tables, dry_run } => restore(&context, &lake, &as_of, &tables, dry_run).await?,
        LakeCommand::Repair { .. } => {}
        LakeCommand::Vacuum {
            dry_run,
            retention_hours,
        } => vacuum(&context, &storage, &lake, dry_run, retention_hours).await?,
    }
    Ok(Outcome::Done)
}

fn named(tables: &[String]) -> anyhow::Result<BTreeSet<TableName>> {
    let named = tables.iter().map(|name| {
        let table = TableName::named(name);
        table.ok_or_else(|| {
            usage(anyhow::anyhow!(
                "--table: no table is called {name:?}; `haat lake tables` lists them"
            ))
        })
    });
    named.collect()
}

async fn restore(context: &Context, lake: &Lake, as_of: &str, tables: &[String], dry_run: bool) -> anyhow::Result<()> {
    let moment = as_of
        .parse()
        .map_err(|error| usage(anyhow::Error::new(error).context("--as-of")))?;
    let mut wanted = named(tables)?;
    if wanted.is_empty() {
        wanted.extend(TableName::CRAWLED);
    }
    let restored = Box::pin(lake.restore(&wanted, &AsOf::Timestamp(moment), dry_run)).await;
    let report = restored.map_err(|error| match error {
        LakeError::OnlyGrows { .. } => usage(anyhow::Error::new(error).context("--table")),
        LakeError::NoTickThen { .. } => usage(anyhow::Error::new(error).context("--as-of")),
        error => error.into(),
    })?;
    let rows = report.tables.iter().map(|one| {
        json!({
            "table": one.table.as_str(),
            "version": one.version,
            "files_added": one.files_added,
            "files_removed": one.files_removed,
        })
    });
    let rows: Vec<Value> = rows.collect();
    let document = json!({
        "dry_run": dry_run,
        "restored_tick": report.restored_tick,
        "tables": rows,
        "tick": report.tick,
    });
    context.output.print(&document, |out| {
        for one in &report.tables {
            writeln!(
                out,
                "{:20} as of version {:>6}: {} rows added back, {} rows removed",
                one.table.as_str(),
                one.version,
                counted(one.files_added, "file"),
                counted(one.files_removed, "file")
            )?;
        }
        match (report.tables.is_empty(), dry_run) {
            (true, _) => writeln!(out, "nothing has changed since"),
            (false, true) => writeln!(out, "nothing was written"),
            (false, false) => writeln!(
                out,
                "done: `haat release build` publishes it; an unchanged store keeps these rows until `haat crawl \
                 --force`"
            ),
        }
    })
}

/// Removes files of the lake that are older than the retention and that no release needs.
async fn vacuum(
    context: &Context,
    storage: &Storage,
    lake: &Lake,
    dry_run: bool,
    retention_hours: Option<u64>,
) -> anyhow::Result<()> {
    let hours = retention_hours.unwrap_or(context.config.lake.retention_hours);
    if hours > RETENTION_HOURS_MAX {
        return Err(usage(anyhow::anyhow!(
            "--retention-hours must be at most {RETENTION_HOURS_MAX}, not {hours}: the lake does not remember removed \
             files for longer"
        )));
    }
    let retention = Duration::from_secs(hours.saturating_mul(3600));
    let vacuumed = vacuum_lake(lake, &context.releases(storage), retention, dry_run).await?;
    super::release::warn_of(&vacuumed.unreadable);
    let report = vacuumed.report;
    let mut document = json!({ "dry_run": dry_run, "files": report.files, "bytes": report.bytes });
    super::release::add_unreadable(&mut document, &vacuumed.unreadable);
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

/// Lists every table with its version and row count.
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
