use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use data_backup::{BackupReport, ExtraFile, LakeCut, STATE_DUMP, TakeOptions};
use data_storage::Storage;
use futures::StreamExt as _;
use serde_json::json;
use state::State;

use super::told;
use crate::exit::Outcome;
use crate::output::counted;
use crate::progress::StepBar;
use crate::watch::note_backup;
use crate::wiring::Context;

/// Parts of a home to copy.
#[derive(Debug)]
pub(super) struct BackupOptions {
    pub(super) with_landing: bool,
    pub(super) with_master_key: bool,
    pub(super) dry_run: bool,
}

/// Path of the master key under a local home, and in a backup that has it.
const MASTER_KEY: &str = "state/master.key";

pub(super) async fn run(context: &Context, to: &str, wanted: &BackupOptions) -> anyhow::Result<Outcome> {
    let home = context.storage()?;
    let backups = match wanted.dry_run {
        true => context.storage_at_unless_dry("backups", to, true)?,
        false => context.backups_at(to)?,
    };
    let scratch = tempfile::tempdir().context("temporary folder for the dump of the state")?;
    let bar = StepBar::of_copy(context.quiet, "looked at");
    let options = TakeOptions {
        with_landing: wanted.with_landing,
        dry_run: wanted.dry_run,
    };
    let clock = context.clock.as_ref();
    // An unreadable state aborts the backup before any long step.
    let state = context.state_to_back_up().await?;
    let taking = data_backup::begin(&home, &backups, options, clock, &bar)
        .await
        .map_err(told)?;
    let moment = async {
        let cut = cut(context, &home).await?;
        anyhow::Ok((cut, dump(state, scratch.path()).await?))
    };
    let (cut, state) = match moment.await {
        Ok(moment) => moment,
        Err(error) => {
            taking.abandon().await;
            return Err(error);
        }
    };
    let mut given = Vec::new();
    given.extend(state);
    let key = master_key(&home);
    let key_left_out = key.is_some() && !wanted.with_master_key;
    given.extend(key.filter(|_| wanted.with_master_key).map(|file| ExtraFile {
        path: MASTER_KEY.to_owned(),
        file,
    }));
    let taken = Box::pin(taking.finish(cut, given)).await.map_err(told)?;
    drop(bar);
    if !wanted.dry_run {
        note_backup(&home, taken.manifest.began_at, backups.local_dir()).await;
    }
    print(context, wanted, &taken, key_left_out)?;
    Ok(Outcome::Done)
}

/// Prints what was copied and what was left out.
fn print(context: &Context, wanted: &BackupOptions, taken: &BackupReport, key_left_out: bool) -> anyhow::Result<()> {
    let has_state = taken.manifest.entries.iter().any(|entry| entry.path == STATE_DUMP);
    let document = json!({
        "dry_run": wanted.dry_run,
        "backup": (!wanted.dry_run).then_some(&taken.manifest.id),
        "objects": taken.manifest.entries.len(),
        "bytes": taken.manifest.bytes(),
        "copied": taken.copied,
        "copied_bytes": taken.copied_bytes,
        "vanished": taken.vanished,
        "lake_tick": taken.manifest.lake_tick,
        "has_state": has_state,
        "has_master_key": wanted.with_master_key && taken.manifest.entries.iter().any(|entry| entry.path == MASTER_KEY),
    });
    context.output.print(&document, |out| {
        let objects = counted(taken.manifest.entries.len(), "object");
        let verb = if wanted.dry_run { "would be read" } else { "copied" };
        let copied = format!("{} ({}) {verb}", taken.copied, counted(taken.copied_bytes, "byte"));
        match wanted.dry_run {
            true => writeln!(out, "{objects}, {copied}")?,
            false => writeln!(out, "{}: {objects}, {copied}", taken.manifest.id)?,
        }
        if key_left_out {
            writeln!(
                out,
                "{MASTER_KEY} is not in the backup: keep a copy of it elsewhere; without it carts and customers' \
                 tokens cannot be read after a restore (--with-master-key includes it)"
            )?;
        }
        Ok(())
    })
}

fn master_key(home: &Storage) -> Option<PathBuf> {
    let key = home.local_dir().map(|home| home.join(MASTER_KEY));
    key.filter(|key| key.is_file())
}

/// Returns the newest tick and table versions of the lake, or `None` without a lake.
async fn cut(context: &Context, home: &Storage) -> anyhow::Result<Option<LakeCut>> {
    if home.child("lake").store().list(None).next().await.is_none() {
        return Ok(None);
    }
    let snapshot = context.lake_in(home).await?.snapshot().await.context("lake")?;
    Ok(Some(LakeCut {
        tick: snapshot.tick().unwrap_or_default(),
        versions: snapshot.versions().clone(),
    }))
}

/// Dumps the state to a file. Returns `None` without a state.
async fn dump(state: Option<State>, folder: &Path) -> anyhow::Result<Option<ExtraFile>> {
    let Some(state) = state else {
        return Ok(None);
    };
    let file = folder.join(STATE_DUMP);
    let mut out = zstd::Encoder::new(std::fs::File::create(&file).context("dump of the state")?, 3)?;
    state.dump(&mut out).await.context("state")?;
    out.finish()?.flush()?;
    state.close().await;
    Ok(Some(ExtraFile {
        path: STATE_DUMP.to_owned(),
        file,
    }))
}
