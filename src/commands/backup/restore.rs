use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::Context as _;
use data_backup::{RestoreOptions, STATE_DUMP};
use serde_json::json;
use state::{State, StateError, StateTarget};

use super::{place, told};
use crate::cli::backup::RestoreArgs;
use crate::exit::Outcome;
use crate::output::counted;
use crate::progress::CopyBar;
use crate::wiring::Context;

/// `haat restore`
pub(crate) async fn run(args: RestoreArgs, context: Context) -> anyhow::Result<Outcome> {
    let backups = place(&context, &args.from)?;
    let manifest = data_backup::load(&backups, args.backup.as_ref()).await.map_err(told)?;
    let home = context.storage_at_unless_dry("home", &context.config.home, args.dry_run)?;
    // A state that cannot be restored is said before anything is copied.
    let has_state = manifest.entries.iter().any(|entry| entry.path == STATE_DUMP);
    // A dry run whose home is not there yet has no place for it, and needs none.
    let target = match has_state && home.url().scheme() != "memory" {
        true => Some(context.state_target(&home)?),
        false => None,
    };
    let scratch = tempfile::tempdir().context("a folder for the dump of the state")?;
    let dump = scratch.path().join(STATE_DUMP);
    let bar = CopyBar::new(context.quiet, "restored");
    let options = RestoreOptions {
        dry_run: args.dry_run,
        accept_loss: args.accept_loss,
        state_dump: &dump,
        progress: &bar,
    };
    let local = home.local_dir().map(Path::to_owned);
    let end = async |has_dump: bool| {
        if let Some(home) = &local {
            keep_private(home)?;
        }
        match &target {
            Some(target) if has_dump => take(target, &dump, args.without_sealed).await,
            _ => Ok(()),
        }
    };
    let id = Some(&manifest.id);
    let restored = Box::pin(data_backup::restore((&backups, &home), id, options, end)).await;
    let restored = restored.map_err(told)??;
    drop(bar);
    let document = json!({
        "dry_run": args.dry_run,
        "backup": restored.manifest.id,
        "objects": restored.manifest.entries.len(),
        "written": restored.written,
        "written_bytes": restored.written_bytes,
        "lost": restored.lost,
        "has_state": restored.has_state,
    });
    context.output.print(&document, |out| {
        for path in &restored.lost {
            writeln!(out, "lost: {path}")?;
        }
        let verb = if args.dry_run { "would be written" } else { "written" };
        writeln!(
            out,
            "{}: {} ({}) {verb} to {}",
            restored.manifest.id,
            counted(restored.written, "object"),
            counted(restored.written_bytes, "byte"),
            context.config.home
        )
    })?;
    Ok(if restored.lost.is_empty() {
        Outcome::Done
    } else {
        Outcome::Partial
    })
}

/// Fills the state from its dump. A try that was cut short behind this may have done so already.
async fn take(target: &StateTarget, dump: &Path, without_sealed: bool) -> anyhow::Result<()> {
    let read = || -> anyhow::Result<_> { Ok(BufReader::new(zstd::Decoder::new(File::open(dump)?)?)) };
    let state = State::open(target).await.context("state")?;
    let taken = match state.take_dump(&mut read()?, without_sealed).await {
        Err(refused @ StateError::NotEmpty { .. }) => match state.holds_dump(&mut read()?, without_sealed).await? {
            true => Ok(()),
            false => Err(refused),
        },
        taken => taken.map(drop),
    };
    state.close().await;
    taken.context("state")
}

/// Makes the folder of the state, and the master key in it, their owner's alone.
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
