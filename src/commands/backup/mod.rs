//! Backup and restore of the home.

mod create;
mod keys;
mod restore;

use data_backup::{BackupError, BackupId};
use data_storage::Storage;
use serde_json::json;

use crate::cli::backup::BackupCommand;
use crate::exit::{Outcome, lost_race, usage};
use crate::output::counted;
use crate::progress::StepBar;
use crate::wiring::Context;

pub(crate) use restore::run as restore;

pub(crate) async fn run(command: BackupCommand, context: Context) -> anyhow::Result<Outcome> {
    match command {
        BackupCommand::Create {
            to,
            without_landing,
            with_master_key,
            dry_run,
        } => {
            let wanted = create::BackupOptions {
                with_landing: !without_landing,
                with_master_key,
                dry_run,
            };
            Box::pin(create::run(&context, &to, &wanted)).await
        }
        BackupCommand::List { at } => list(&context, &at).await,
        BackupCommand::Verify { at, backup, set_aside } => verify(&context, &at, backup.as_ref(), set_aside).await,
        BackupCommand::Prune { at, keep, dry_run } => prune(&context, &at, keep, dry_run).await,
    }
}

/// Opens the existing storage of backups at `at`.
fn place(context: &Context, at: &str) -> anyhow::Result<Storage> {
    if let Some(folder) = crate::home_folder::folder_of(at).filter(|folder| !folder.is_dir()) {
        return Err(usage(anyhow::anyhow!("there are no backups in {}", folder.display())));
    }
    context.backups_at(at)
}

/// Converts an error to one for users of the command line.
fn told(error: BackupError) -> anyhow::Error {
    match error {
        BackupError::Busy { .. } => lost_race(error.to_string()),
        BackupError::NoSuchBackup { .. }
        | BackupError::NoBackup { .. }
        | BackupError::NotEmpty { .. }
        | BackupError::AnotherRestoring { .. }
        | BackupError::Nested { .. } => usage(error.into()),
        error => error.into(),
    }
}

async fn list(context: &Context, at: &str) -> anyhow::Result<Outcome> {
    let backups = place(context, at)?;
    let mut rows = Vec::new();
    let mut outcome = Outcome::Done;
    for listed in data_backup::list(&backups).await.map_err(told)? {
        match data_backup::load(&backups, Some(&listed.id)).await {
            Ok(manifest) => rows.push(json!({
                "backup": manifest.id,
                "began_at": manifest.began_at.to_string(),
                "home": manifest.home,
                "objects": manifest.entries.len(),
                "bytes": manifest.bytes(),
                "lake_tick": manifest.lake_tick,
                "has_landing": manifest.has_landing,
                "has_state": manifest.entries.iter().any(|entry| entry.path == data_backup::STATE_DUMP),
                "damaged": null,
            })),
            Err(error @ (BackupError::Manifest { .. } | BackupError::Newer { .. })) => {
                outcome = Outcome::Partial;
                rows.push(json!({ "backup": listed.id, "damaged": error.to_string() }));
            }
            Err(error) => return Err(told(error)),
        }
    }
    context.output.print(&json!({ "backups": rows }), |out| {
        for row in &rows {
            let name = row["backup"].as_str().unwrap_or_default();
            match row["damaged"].as_str() {
                Some(damaged) => writeln!(out, "{name}  {damaged}")?,
                None => writeln!(
                    out,
                    "{name}  {}  {} of {}",
                    row["began_at"].as_str().unwrap_or_default(),
                    counted(row["objects"].as_u64().unwrap_or_default(), "object"),
                    row["home"].as_str().unwrap_or_default(),
                )?,
            }
        }
        writeln!(out, "{}", counted(rows.len(), "backup"))
    })?;
    Ok(outcome)
}

async fn verify(context: &Context, at: &str, backup: Option<&BackupId>, aside: bool) -> anyhow::Result<Outcome> {
    let backups = place(context, at)?;
    let bar = StepBar::of_copy(context.quiet, "verified");
    let verified = data_backup::verify(&backups, backup, &bar).await.map_err(told)?;
    drop(bar);
    let moved = match aside && !verified.damaged.is_empty() {
        true => data_backup::set_aside(&backups, &verified, context.clock.as_ref())
            .await
            .map_err(told)?,
        false => 0,
    };
    let document = json!({
        "backup": verified.id,
        "objects": verified.objects,
        "bytes": verified.bytes,
        "damaged": verified.damaged,
        "set_aside": moved,
    });
    context.output.print(&document, |out| {
        for path in &verified.damaged {
            writeln!(out, "lost or damaged: {path}")?;
        }
        if aside && !verified.damaged.is_empty() {
            writeln!(
                out,
                "{} moved aside: the next backup copies the files that the home still has",
                counted(moved, "object")
            )?;
        } else if !verified.damaged.is_empty() {
            writeln!(
                out,
                "with --set-aside the next backup copies the files that the home still has"
            )?;
        }
        writeln!(
            out,
            "{}: {} of {} whole",
            verified.id,
            verified.objects - verified.damaged.len(),
            counted(verified.objects, "object")
        )
    })?;
    Ok(if verified.damaged.is_empty() {
        Outcome::Done
    } else {
        Outcome::Failed
    })
}

async fn prune(context: &Context, at: &str, keep: u32, dry_run: bool) -> anyhow::Result<Outcome> {
    let backups = place(context, at)?;
    let keep = usize::try_from(keep).unwrap_or(usize::MAX);
    let pruned = data_backup::prune(&backups, keep, dry_run, context.clock.as_ref())
        .await
        .map_err(told)?;
    let document = json!({
        "dry_run": dry_run,
        "removed": pruned.removed,
        "kept": pruned.kept,
        "objects": pruned.objects,
        "bytes": pruned.bytes,
    });
    context.output.print(&document, |out| {
        for id in &pruned.removed {
            writeln!(out, "{id}")?;
        }
        let verb = if dry_run { "would be removed" } else { "removed" };
        writeln!(
            out,
            "{} and {} ({}) {verb}, {} kept",
            counted(pruned.removed.len(), "backup"),
            counted(pruned.objects, "object"),
            counted(pruned.bytes, "byte"),
            counted(pruned.kept.len(), "backup")
        )
    })?;
    Ok(Outcome::Done)
}
