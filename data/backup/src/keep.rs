//! How long backups are kept.

use std::collections::HashSet;

use data_model::{Clock, Timestamp};
use data_storage::{ObjectPath, ObjectStoreExt as _, Storage, StorageError, get_bytes, put_over};
use futures::TryStreamExt as _;
use serde::Deserialize;

use crate::backups::{self, each, forget, list, load, remove};
use crate::copy::{self, COPIES_AT_ONCE, object_path};
use crate::{BackupError, BackupId, Verified};

/// The folder of marks of backups at work.
pub(crate) const BACKING_UP: &str = "backing-up";
/// The mark of a clean-up at work.
const PRUNING: &str = "pruning.json";
/// A mark older than this was left behind by a program that died.
const MARK_MS_MAX: i64 = 24 * 60 * 60 * 1000;

/// What a clean-up removed, or would remove.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Backups that are gone.
    pub removed: Vec<BackupId>,
    /// Backups that stay.
    pub kept: Vec<BackupId>,
    /// How many objects no backup needs any more.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Removes all backups but the newest `keep`, and what no other backup needs. With `dry_run` it only says what would go.
///
/// # Errors
/// A backup is at work, the list of one that stays is damaged, or the storage fails.
pub async fn prune(backups: &Storage, keep: usize, dry_run: bool, clock: &dyn Clock) -> Result<Pruned, BackupError> {
    let now = clock.now();
    let pruning = pruned(backups, keep.max(1), dry_run, now);
    if dry_run {
        pruning.await
    } else {
        alone(backups, now, pruning).await
    }
}

/// Sets damaged objects aside, into the folder `damaged`: they are there no more for backups, and the next one copies them
/// again where the home still has them. Answers how many there were.
///
/// # Errors
/// A backup is at work, or the storage fails.
pub async fn set_aside(backups: &Storage, verified: &Verified, clock: &dyn Clock) -> Result<u64, BackupError> {
    let now = clock.now();
    let moving = async {
        refuse_backing_up(backups, now).await?;
        let moved = verified.damaged_sha256.iter().map(|sha256| moved(backups, sha256));
        let moved = each(moved, COPIES_AT_ONCE).await?;
        Ok(moved.into_iter().filter(|moved| *moved).count() as u64)
    };
    alone(backups, now, moving).await
}

/// Moves an object, unless it is whole again; `false` where there is nothing to move.
async fn moved(backups: &Storage, sha256: &str) -> Result<bool, BackupError> {
    // A backup may have copied it again since it was found.
    let found = copy::hash(backups, &object_path(sha256)).await?;
    if found.is_some_and(|(found, _)| found == sha256) {
        return Ok(false);
    }
    let (from, to) = (object_path(sha256), ObjectPath::from(format!("damaged/{sha256}")));
    match backups.store().rename(&from, &to).await {
        Ok(()) => Ok(true),
        Err(object_store::Error::NotFound { .. }) => Ok(false),
        Err(source) => Err(BackupError::Storage(StorageError::Write {
            path: to.to_string(),
            source,
        })),
    }
}

/// Removes or moves objects while no backup begins.
async fn alone<T>(
    backups: &Storage,
    now: Timestamp,
    work: impl Future<Output = Result<T, BackupError>>,
) -> Result<T, BackupError> {
    let content = serde_json::json!({ "began_at": now.micros() }).to_string();
    put_over(backups, &ObjectPath::from(PRUNING), content).await?;
    let done = work.await;
    remove(backups, &ObjectPath::from(PRUNING)).await?;
    done
}

async fn pruned(backups: &Storage, keep: usize, dry_run: bool, now: Timestamp) -> Result<Pruned, BackupError> {
    if !dry_run {
        refuse_backing_up(backups, now).await?;
    }
    let mut removed: Vec<_> = list(backups).await?.into_iter().map(|one| one.id).collect();
    let kept = removed.split_off(removed.len().saturating_sub(keep));
    let mut needed = HashSet::new();
    for id in &kept {
        let manifest = load(backups, Some(id)).await?;
        needed.extend(manifest.entries.into_iter().map(|entry| entry.sha256));
    }
    let there = backups::objects(backups, "objects").await?;
    let unneeded = there.iter().filter(|(sha256, _)| !needed.contains(*sha256));
    let unneeded: Vec<_> = unneeded.collect();
    let report = Pruned {
        objects: unneeded.len() as u64,
        bytes: unneeded.iter().map(|(_, bytes)| **bytes).sum(),
        removed,
        kept,
    };
    if !dry_run {
        for id in &report.removed {
            forget(backups, id).await?;
        }
        // Their lists are gone first: a list never names what is not there.
        let removals = unneeded
            .into_iter()
            .map(|(sha256, _)| async move { remove(backups, &object_path(sha256)).await });
        each(removals, COPIES_AT_ONCE).await?;
    }
    Ok(report)
}

#[derive(Deserialize)]
struct Mark {
    began_at: i64,
}

/// Whether a mark says that its program is at work.
async fn holds(backups: &Storage, path: &ObjectPath, now: Timestamp) -> Result<bool, BackupError> {
    let Some(content) = get_bytes(backups, path).await? else {
        return Ok(false);
    };
    // One that cannot be read was not written by a program that is at work.
    let mark: Option<Mark> = serde_json::from_slice(&content).ok();
    Ok(mark.is_some_and(|mark| now.millis_since(Timestamp::from_micros(mark.began_at)) < MARK_MS_MAX))
}

pub(crate) async fn refuse_pruning(backups: &Storage, now: Timestamp) -> Result<(), BackupError> {
    match holds(backups, &ObjectPath::from(PRUNING), now).await? {
        true => Err(BackupError::Busy {
            what: "a clean-up of backups",
            path: PRUNING.to_owned(),
        }),
        false => Ok(()),
    }
}

async fn refuse_backing_up(backups: &Storage, now: Timestamp) -> Result<(), BackupError> {
    let prefix = ObjectPath::from(BACKING_UP);
    let marks: Vec<_> = backups
        .store()
        .list(Some(&prefix))
        .try_collect()
        .await
        .map_err(|source| StorageError::List {
            prefix: BACKING_UP.to_owned(),
            source,
        })?;
    for mark in marks {
        if holds(backups, &mark.location, now).await? {
            return Err(BackupError::Busy {
                what: "a backup",
                path: mark.location.to_string(),
            });
        }
        remove(backups, &mark.location).await?;
    }
    Ok(())
}
