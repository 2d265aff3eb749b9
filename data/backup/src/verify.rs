use std::collections::BTreeSet;

use data_storage::Storage;

use crate::backups::{self, each};
use crate::copy::{self, COPIES_AT_ONCE, object_path};
use crate::{BackupError, BackupId, CopyProgress};

/// The result of reading a backup through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyReport {
    /// The backup.
    pub id: BackupId,
    /// The number of its objects.
    pub objects: usize,
    /// The number of their bytes.
    pub bytes: u64,
    /// The paths of objects that are lost, or whose bytes are not what they were.
    pub damaged: Vec<String>,
    /// The hashes that these objects should have, by which they are kept.
    pub damaged_sha256: BTreeSet<String>,
}

/// Reads every object of a backup and compares its hash; the newest backup where none is named. Nothing is written.
///
/// # Errors
/// There is no such backup, its list is damaged, or the storage fails.
pub async fn verify(
    backups: &Storage,
    id: Option<&BackupId>,
    progress: &dyn CopyProgress,
) -> Result<VerifyReport, BackupError> {
    let manifest = backups::load(backups, id).await?;
    progress.total(manifest.entries.len() as u64, manifest.bytes());
    let reads = manifest.entries.iter().map(|entry| async move {
        let found = copy::hash(backups, &object_path(&entry.sha256)).await?;
        let is_whole = found.is_some_and(|(sha256, bytes)| sha256 == entry.sha256 && bytes == entry.bytes);
        progress.done(entry.bytes);
        Ok((!is_whole).then(|| (entry.path.clone(), entry.sha256.clone())))
    });
    let damaged = each(reads, COPIES_AT_ONCE).await?;
    let (damaged, damaged_sha256) = damaged.into_iter().flatten().unzip();
    Ok(VerifyReport {
        objects: manifest.entries.len(),
        bytes: manifest.bytes(),
        damaged,
        damaged_sha256,
        id: manifest.id,
    })
}
