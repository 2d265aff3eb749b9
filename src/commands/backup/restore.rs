use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use data_backup::{RestoreOptions, RestoredHome, STATE_DUMP};
use data_model::Timestamp;
use serde_json::json;
use state::{State, StateError, StateTarget, TakeDump};

use super::keys::{Counts, LaterBackups, since};
use super::{place, told};
use crate::cli::backup::RestoreArgs;
use crate::exit::Outcome;
use crate::output::counted;
use crate::progress::StepBar;
use crate::wiring::Context;

pub(crate) async fn run(args: RestoreArgs, context: Context) -> anyhow::Result<Outcome> {
    let backups = place(&context, &args.from)?;
    let manifest = data_backup::load(&backups, args.backup.as_ref()).await.map_err(told)?;
    let home = context.storage_at_unless_dry("home", &context.config.home, args.dry_run)?;
    // A state that cannot be restored is reported before anything is copied.
    let has_state = manifest.entries.iter().any(|entry| entry.path == STATE_DUMP);
    // In a dry run the home may not exist, and then the state needs no location.
    let target = match has_state && home.url().scheme() != "memory" {
        true => Some(context.state_target(&home)?),
        false => None,
    };
    let scratch = tempfile::tempdir().context("temporary folder for the dump of the state")?;
    let dump = scratch.path().join(STATE_DUMP);
    // A dry run does not read later backups.
    let dumps = (has_state && !args.dry_run).then_some(scratch.path());
    let since = since(&backups, &manifest, args.keys.as_deref(), dumps).await?;
    let bar = StepBar::of_copy(context.quiet, "restored");
    let options = RestoreOptions {
        dry_run: args.dry_run,
        accept_loss: args.accept_loss,
        state_dump: &dump,
        progress: &bar,
    };
    let local = home.local_dir().map(Path::to_owned);
    let counts = Mutex::new(Counts::default());
    let end = async |has_dump: bool| {
        if let Some(home) = &local {
            keep_private(home)?;
        }
        match &target {
            Some(target) if has_dump => {
                let how = TakeDump {
                    without_sealed: args.without_sealed,
                    keys: &since.keys,
                };
                let keys = take(target, &dump, how, context.clock.now()).await?;
                *counts.lock().unwrap_or_else(PoisonError::into_inner) = keys;
            }
            _ => {}
        }
        anyhow::Ok(())
    };
    let id = Some(&manifest.id);
    let restored = Box::pin(data_backup::restore(&backups, &home, id, options, end)).await;
    let restored = restored.map_err(told)??;
    drop(bar);
    let counts = counts.into_inner().unwrap_or_else(PoisonError::into_inner);
    print(&context, args.dry_run, &restored, &counts, &since)?;
    Ok(Outcome::partial_if(!restored.lost.is_empty()))
}

/// Prints what was restored, and how the state differs from the state at the time of the backup.
fn print(
    context: &Context,
    dry_run: bool,
    restored: &RestoredHome,
    counts: &Counts,
    since: &LaterBackups,
) -> anyhow::Result<()> {
    let is_state_lost = restored.lost.iter().any(|path| path == STATE_DUMP);
    let is_restored = restored.has_state && !is_state_lost && !dry_run;
    let document = json!({
        "dry_run": dry_run,
        "backup": restored.manifest.id,
        "objects": restored.manifest.entries.len(),
        "written": restored.written,
        "written_bytes": restored.written_bytes,
        "lost": restored.lost,
        "has_state": restored.has_state,
        "keys_valid": is_restored.then_some(counts.valid),
        "keys_unconfirmed": is_restored.then_some(counts.unconfirmed),
        "keys_missing": is_restored.then_some(&counts.missing),
        "keys_as_of": restored.manifest.began_at,
        "backups_unread": since.unread,
    });
    context.output.print(&document, |out| {
        for path in &restored.lost {
            writeln!(out, "lost: {path}")?;
        }
        let verb = if dry_run { "would be written" } else { "written" };
        writeln!(
            out,
            "{}: {} ({}) {verb} to {}",
            restored.manifest.id,
            counted(restored.written, "object"),
            counted(restored.written_bytes, "byte"),
            context.config.home
        )?;
        for id in &since.unread {
            writeln!(out, "{id}: the keys in this later backup cannot be read")?;
        }
        if counts.unconfirmed > 0 {
            let as_of = restored.manifest.began_at;
            writeln!(
                out,
                "{} refused until you confirm them, because they may have been revoked after {as_of}: see `haat keys \
                 list`, run `haat keys revoke` for unwanted keys, then `haat keys confirm --all`",
                counted(counts.unconfirmed, "key")
            )?;
        }
        if !counts.missing.is_empty() {
            writeln!(
                out,
                "created after the backup, and not part of it: {}; create new keys with `haat keys create`",
                counts.missing.join(", ")
            )?;
        }
        if is_restored {
            writeln!(out, "nobody is signed in: all sessions have ended")?;
        }
        Ok(())
    })
}

/// Fills the state from its dump and returns the numbers of its keys. A state that an interrupted restore has already
/// filled counts as success.
async fn take(target: &StateTarget, dump: &Path, how: TakeDump<'_>, now: Timestamp) -> anyhow::Result<Counts> {
    let read = || -> anyhow::Result<_> { Ok(BufReader::new(zstd::Decoder::new(File::open(dump)?)?)) };
    let state = State::open(target).await.context("state")?;
    let taken = match state.take_dump(&mut read()?, how).await {
        Err(refused @ StateError::NotEmpty { .. }) => match state.holds_dump(&mut read()?, how).await? {
            true => Ok(()),
            false => Err(refused),
        },
        taken => taken.map(drop),
    };
    let keys = match &taken {
        Ok(()) => state.keys(None).await.context("state"),
        Err(_) => Ok(Vec::new()),
    };
    state.close().await;
    taken.context("state")?;
    Ok(Counts::of(&keys?, how.keys, now))
}

/// Creates the folder of the state. Only the owner may read it and the master key.
#[cfg(unix)]
fn keep_private(home: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let state = home.join("state");
    for (path, mode) in [(state.join("master.key"), 0o600), (state, 0o700)] {
        if path.exists() {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))
                .with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}
