//! Removes old backups and damaged objects.

use std::collections::HashSet;

use data_model::{Clock, Timestamp};
use data_storage::{ObjectPath, ObjectStoreExt as _, Storage, StorageError, list_all};

use crate::backups::{self, each, forget, list, load, remove};
use crate::copy::{self, COPIES_AT_ONCE, object_path};
use crate::mark::{Mark, holds};
use crate::{BackupError, BackupId, VerifyReport};

pub(crate) const BACKING_UP: &str = "backing-up";
const PRUNING: &str = "pruning.json";

/// Backups and objects that a clean-up removed, or would remove.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PruneReport {
    /// Backups that were removed.
    pub removed: Vec<BackupId>,
    /// Backups that were not removed.
    pub kept: Vec<BackupId>,
    /// Number of objects that no backup needs any more.
    pub objects: u64,
    /// Total size of these objects, in bytes.
    pub bytes: u64,
}

/// Removes all backups except the newest `keep`, and the objects that only they need. With `dry_run`, only reports the
/// removals.
///
/// # Errors
/// A backup is running, the manifest of a kept backup is damaged, or the storage fails.
pub async fn prune(
    backups: &Storage,
    keep: usize,
    dry_run: bool,
    clock: &dyn Clock,
) -> Result<PruneReport, BackupError> {
    let keep = keep.max(1);
    if dry_run {
        return pruned(backups, keep, None).await;
    }
    let mark = Mark::set(backups, ObjectPath::from(PRUNING), clock).await?;
    let done = pruned(backups, keep, Some(&mark)).await;
    lifted(&mark, done).await
}

/// Moves damaged objects into the folder `damaged`. The moved objects then count as missing, and the next backup copies
/// them again if the home still has them. Returns the number of moved objects.
///
/// # Errors
/// A backup is running, or the storage fails.
pub async fn set_aside(backups: &Storage, verified: &VerifyReport, clock: &dyn Clock) -> Result<u64, BackupError> {
    let mark = Mark::set(backups, ObjectPath::from(PRUNING), clock).await?;
    let moving = async {
        refuse_backing_up(backups, mark.began_at()).await?;
        let moved = verified.damaged_sha256.iter().map(|sha256| async {
            mark.renew().await?;
            moved(backups, sha256).await
        });
        let moved = each(moved, COPIES_AT_ONCE).await?;
        Ok(moved.into_iter().filter(|moved| *moved).count() as u64)
    };
    let done = moving.await;
    lifted(&mark, done).await
}

/// Moves an object unless it is intact. Returns `false` if it was not moved.
async fn moved(backups: &Storage, sha256: &str) -> Result<bool, BackupError> {
    // A backup may have copied the object again since the damage was found.
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

/// Backups can begin again after successful and failed work.
async fn lifted<T>(mark: &Mark<'_>, done: Result<T, BackupError>) -> Result<T, BackupError> {
    let lifted = mark.lift().await;
    let done = done?;
    lifted.map(|()| done)
}

/// Without `mark`, only reports the backups to remove.
async fn pruned(backups: &Storage, keep: usize, mark: Option<&Mark<'_>>) -> Result<PruneReport, BackupError> {
    if let Some(mark) = mark {
        refuse_backing_up(backups, mark.began_at()).await?;
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
    let report = PruneReport {
        objects: unneeded.len() as u64,
        bytes: unneeded.iter().map(|(_, bytes)| **bytes).sum(),
        removed,
        kept,
    };
    if let Some(mark) = mark {
        for id in &report.removed {
            mark.renew().await?;
            forget(backups, id).await?;
        }
        // The manifests are removed first, so that a manifest never names a missing object.
        let removals = unneeded.into_iter().map(|(sha256, _)| async move {
            mark.renew().await?;
            remove(backups, &object_path(sha256)).await
        });
        each(removals, COPIES_AT_ONCE).await?;
    }
    Ok(report)
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
    let marks = list_all(backups, Some(&prefix)).await?;
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
