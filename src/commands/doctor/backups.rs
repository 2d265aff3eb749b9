use std::fs::symlink_metadata;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use data_storage::Storage;

use super::finding::Finding;
use crate::watch::newest_backup;

/// Reports local backups of this home that other users can read. Backups contain customers' data and perhaps the master
/// key. Older versions created them with such permissions.
pub(super) async fn look(home: &Storage) -> Option<Finding> {
    const SUBJECT: &str = "backups";
    let folder = newest_backup(home)
        .await
        .ok()??
        .folder
        .filter(|folder| folder.is_dir())?;
    let at = folder.display().to_string();
    let open = tokio::task::spawn_blocking(move || open_to_others(folder)).await.ok()?;
    Some(match open {
        0 => Finding::fine(SUBJECT, format!("only their owner can read those in {at}")),
        _ => Finding::warning(
            SUBJECT,
            format!("other users of this machine can read {open} files and folders in {at}"),
            format!("chmod -R go= '{at}'"),
        ),
    })
}

/// Counts the files and folders that other users can access.
fn open_to_others(folder: PathBuf) -> usize {
    let is_open = |path: &Path| symlink_metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o077 != 0);
    // A user who may not enter a folder cannot reach anything in it.
    if !is_open(&folder) {
        return 0;
    }
    let (mut found, mut left) = (0, vec![folder]);
    while let Some(path) = left.pop() {
        if path.is_symlink() {
            continue;
        }
        found += usize::from(is_open(&path));
        let below = path.read_dir().into_iter().flatten().flatten();
        left.extend(below.map(|entry| entry.path()));
    }
    found
}
