use std::collections::BTreeSet;

use data_storage::Storage;

use crate::backups::{self, each};
use crate::copy::{self, COPIES_AT_ONCE, object_path};
use crate::{BackupError, BackupId, CopyProgress};

/// Result of verifying a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyReport {
    /// Id of the backup.
    pub id: BackupId,
    /// Number of objects in the backup.
    pub objects: usize,
    /// Total size of the objects in bytes.
    pub bytes: u64,
    /// Paths of objects that are lost or damaged.
    pub damaged: Vec<String>,
    /// Expected hashes of the damaged objects, which are also their names.
    pub damaged_sha256: BTreeSet<String>,
}

/// Reads every object of a backup, or of the newest one if `id` is `None`, and compares its hash. Writes nothing.
///
/// # Errors
/// The backup does not exist, its manifest is damaged, or the storage fails.
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
