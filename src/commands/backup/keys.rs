//! Status of keys after a restore, according to later backups and the key list of the last used state.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;

use anyhow::Context as _;
use data_backup::{BackupId, Manifest};
use data_model::Timestamp;
use data_storage::Storage;
use serde::Deserialize;
use state::{KeyFate, KeyRecord, KeysSince};

use crate::exit::usage;

/// Maximum size of a key list, enough for some 200,000 keys.
const LIST_BYTES_MAX: u64 = 64 << 20;

/// Known statuses of keys, and the later backups that cannot be read.
#[derive(Debug)]
pub(super) struct LaterBackups {
    pub(super) keys: KeysSince,
    pub(super) unread: Vec<BackupId>,
}

/// Numbers of keys after a restore.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    pub(super) valid: usize,
    /// Keys that are refused until they are confirmed.
    pub(super) unconfirmed: usize,
    /// Ids of keys that were created after the backup, so the backup lacks them.
    pub(super) missing: Vec<String>,
}

impl Counts {
    pub(super) fn of(keys: &[KeyRecord], since: &KeysSince, now: Timestamp) -> Self {
        let held: Vec<_> = keys.iter().map(|key| key.id.clone()).collect();
        let open = keys.iter().filter(|key| key.over_since(now).is_none());
        let (unconfirmed, valid): (Vec<_>, Vec<_>) = open.partition(|key| key.unconfirmed_since.is_some());
        Self {
            valid: valid.len(),
            unconfirmed: unconfirmed.len(),
            missing: since.missing(&held, now),
        }
    }
}

/// Finds the current status of the keys in a backup. With a folder for dumps, later backups are read too. An unreadable
/// later backup is only reported, because a key is refused until it is confirmed anyway.
pub(super) async fn since(
    backups: &Storage,
    manifest: &Manifest,
    list: Option<&Path>,
    scratch: Option<&Path>,
) -> anyhow::Result<LaterBackups> {
    let mut since = LaterBackups {
        keys: KeysSince::dump_of(manifest.began_at),
        unread: Vec::new(),
    };
    if let Some(path) = list {
        learn_list(&mut since.keys, path)
            .with_context(|| path.display().to_string())
            .map_err(usage)?;
    }
    let Some(scratch) = scratch else {
        return Ok(since);
    };
    let later = data_backup::list(backups).await?;
    for backup in later.into_iter().filter(|later| later.id > manifest.id) {
        if let Err(error) = learn_backup(&mut since.keys, backups, &backup.id, scratch).await {
            tracing::warn!(backup = %backup.id, error = format!("{error:#}"), "the keys in a later backup cannot be read");
            since.unread.push(backup.id);
        }
    }
    Ok(since)
}

async fn learn_backup(keys: &mut KeysSince, backups: &Storage, id: &BackupId, scratch: &Path) -> anyhow::Result<()> {
    let manifest = data_backup::load(backups, Some(id)).await?;
    let has_state = manifest
        .entries
        .iter()
        .any(|entry| entry.path == data_backup::STATE_DUMP);
    let dump = scratch.join(id.as_str());
    if has_state {
        let is_there = data_backup::state_dump(backups, &manifest, &dump).await?;
        anyhow::ensure!(is_there, "its dump of the state is lost");
        keys.learn_dump(&mut BufReader::new(zstd::Decoder::new(File::open(&dump)?)?))?;
        std::fs::remove_file(&dump)?;
    }
    Ok(())
}

#[derive(Deserialize)]
struct List {
    keys: Vec<BackupKeyEntry>,
}

#[derive(Deserialize)]
struct BackupKeyEntry {
    id: String,
    ends_at: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
    unconfirmed_since: Option<Timestamp>,
}

fn learn_list(keys: &mut KeysSince, path: &Path) -> anyhow::Result<()> {
    let mut text = String::new();
    File::open(path)?.take(LIST_BYTES_MAX).read_to_string(&mut text)?;
    anyhow::ensure!(
        (text.len() as u64) < LIST_BYTES_MAX,
        "the text is larger than {LIST_BYTES_MAX} bytes"
    );
    let list: List = serde_json::from_str(&text).context("this is not the output of `haat keys list --json`")?;
    for key in list.keys {
        let fate = KeyFate {
            revoked_at: key.revoked_at,
            ends_at: key.ends_at,
            is_final: key.unconfirmed_since.is_none(),
        };
        keys.learn(&key.id.parse().context("keys[].id")?, fate);
    }
    Ok(())
}
