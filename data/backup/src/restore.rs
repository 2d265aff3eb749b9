use std::collections::HashSet;
use std::path::Path;

use data_storage::{ObjectPath, Storage, StorageError, get_bytes, put_new};
use futures::TryStreamExt as _;
use serde::{Deserialize, Serialize};

use crate::backups::{each, load, remove};
use crate::copy::{self, COPIES_AT_ONCE, ObjectPlace, object_path};
use crate::manifest::STATE_DUMP;
use crate::{BackupError, BackupId, CopyProgress, Entry, Manifest, verify};

/// Path of the object that marks a home as being restored. The end of the restore removes the object.
pub const RESTORING: &str = "restoring.json";
/// Objects that a home may have before a restore. No backup contains any of these objects.
const HARMLESS: [&str; 4] = ["cache/", "doctor/", ".staging/", RESTORING];
/// Folder with files that a running server or an opened state leaves next to the state database.
const STATE: &str = "state/";

/// Marker in a home that is being restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreNote {
    /// Backup that is being restored.
    pub backup: BackupId,
}

/// Result of a restore, or of a dry run of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredHome {
    /// Manifest of the restored backup.
    pub manifest: Manifest,
    /// Number of objects that were written, or would be.
    pub written: u64,
    /// Total size of these objects in bytes.
    pub written_bytes: u64,
    /// Paths of objects that are lost or damaged in the backup and therefore not restored.
    pub lost: Vec<String>,
    /// `true` if the backup contains a dump of the state, which was written to the given file.
    pub has_state: bool,
}

/// Returns the backup that is being restored to a home, if there is one.
///
/// # Errors
/// The storage fails.
pub async fn is_restoring(home: &Storage) -> Result<Option<RestoreNote>, BackupError> {
    let content = get_bytes(home, &ObjectPath::from(RESTORING)).await?;
    Ok(content.and_then(|content| serde_json::from_slice(&content).ok()))
}

/// Copies every object of a backup to an empty home, and the dump of the state to `state_dump`. The same call resumes
/// an interrupted restore. The home is marked as being restored until `end` has succeeded. In `end`, the caller
/// restores the state from its dump.
///
/// If objects of the backup are lost or damaged, the restore fails before it writes anything, unless `accept_loss` is
/// set.
///
/// # Errors
/// The backup does not exist, objects of it are lost, the home is not empty, or a storage fails.
pub async fn restore<E, F>(
    backups: &Storage,
    home: &Storage,
    id: Option<&BackupId>,
    options: RestoreOptions<'_>,
    end: impl FnOnce(bool) -> F,
) -> Result<Result<RestoredHome, E>, BackupError>
where
    F: Future<Output = Result<(), E>>,
{
    let manifest = load(backups, id).await?;
    require_empty(home, &manifest.id).await?;
    // Every object is read before the first is written, so that a refused restore leaves no trace.
    let lost = verify(backups, Some(&manifest.id), &()).await?.damaged;
    if !lost.is_empty() && !options.accept_loss {
        return Err(BackupError::Damaged { lost, id: manifest.id });
    }
    let has_state = manifest.entries.iter().any(|entry| entry.path == STATE_DUMP);
    let mut restored = RestoredHome {
        written: 0,
        written_bytes: 0,
        lost,
        has_state,
        manifest,
    };
    let lost: HashSet<&String> = restored.lost.iter().collect();
    let wanted = restored
        .manifest
        .entries
        .iter()
        .filter(|entry| !lost.contains(&entry.path));
    let wanted: Vec<_> = wanted.cloned().collect();
    let bytes = wanted.iter().map(|entry| entry.bytes).sum();
    options.progress.total(wanted.len() as u64, bytes);
    if options.dry_run {
        (restored.written, restored.written_bytes) = (wanted.len() as u64, bytes);
        return Ok(Ok(restored));
    }
    let mark = RestoreNote {
        backup: restored.manifest.id.clone(),
    };
    let mark = serde_json::to_vec(&mark).map_err(|error| BackupError::File {
        path: RESTORING.to_owned(),
        source: error.into(),
    })?;
    make_private(home)?;
    put_new(home, &ObjectPath::from(RESTORING), mark).await?;
    let dump = &LocalFile::new(options.state_dump)?;
    let progress = options.progress;
    let writes = wanted.iter().map(|entry| async move {
        let done = write(backups, home, dump, entry).await?;
        progress.done(entry.bytes);
        Ok((entry, done))
    });
    for (entry, done) in each(writes, COPIES_AT_ONCE).await? {
        match done {
            WriteOutcome::Now => {
                restored.written += 1;
                restored.written_bytes += entry.bytes;
            }
            WriteOutcome::Before => {}
            WriteOutcome::Not => restored.lost.push(entry.path.clone()),
        }
    }
    if !restored.lost.is_empty() && !options.accept_loss {
        return Err(BackupError::Damaged {
            lost: restored.lost,
            id: restored.manifest.id,
        });
    }
    if let Err(error) = end(restored.has_state && !restored.lost.iter().any(|path| path == STATE_DUMP)).await {
        return Ok(Err(error));
    }
    remove(home, &ObjectPath::from(RESTORING)).await?;
    Ok(Ok(restored))
}

/// Creates the folder of the state. Only the owner may read the master key, from its first byte on.
fn make_private(home: &Storage) -> Result<(), BackupError> {
    let Some(home) = home.local_dir() else { return Ok(()) };
    let mut folder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(folder.recursive(true), 0o700);
    folder.create(home.join(STATE)).map_err(|source| BackupError::File {
        path: STATE.to_owned(),
        source,
    })
}

/// Options of a restore.
#[derive(Clone, Copy)]
pub struct RestoreOptions<'a> {
    /// True to write nothing and count the objects that would be written.
    pub dry_run: bool,
    /// True to skip objects that the backup has lost.
    pub accept_loss: bool,
    /// Local file to which the dump of the state is written.
    pub state_dump: &'a Path,
    /// Receives the progress of the restore.
    pub progress: &'a dyn CopyProgress,
}

impl std::fmt::Debug for RestoreOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RestoreOptions").finish_non_exhaustive()
    }
}

/// Copies the dump of the state from a backup to a file. Returns `false` if the backup has no dump or has lost it.
///
/// # Errors
/// The dump is damaged, the file cannot be written, or the storage fails.
pub async fn state_dump(backups: &Storage, manifest: &Manifest, to: &Path) -> Result<bool, BackupError> {
    let Some(entry) = manifest.entries.iter().find(|entry| entry.path == STATE_DUMP) else {
        return Ok(false);
    };
    let to = LocalFile::new(to)?;
    let from = ObjectPlace {
        storage: backups,
        path: &object_path(&entry.sha256),
    };
    Ok(copy::send(from, to.place(), &entry.sha256).await?)
}

enum WriteOutcome {
    Now,
    Before,
    Not,
}

async fn write(
    backups: &Storage,
    home: &Storage,
    dump: &LocalFile,
    entry: &Entry,
) -> Result<WriteOutcome, BackupError> {
    let in_home = ObjectPath::from(entry.path.as_str());
    let to = match entry.path == STATE_DUMP {
        true => dump.place(),
        false => ObjectPlace {
            storage: home,
            path: &in_home,
        },
    };
    let there = copy::hash(to.storage, to.path).await?;
    if there.is_some_and(|(sha256, _)| sha256 == entry.sha256) {
        return Ok(WriteOutcome::Before);
    }
    let from = ObjectPlace {
        storage: backups,
        path: &object_path(&entry.sha256),
    };
    let is_sent = copy::send(from, to, &entry.sha256).await?;
    Ok(if is_sent { WriteOutcome::Now } else { WriteOutcome::Not })
}

/// A local file, addressed as an object of its folder.
struct LocalFile {
    folder: Storage,
    name: ObjectPath,
}

impl LocalFile {
    fn new(path: &Path) -> Result<Self, BackupError> {
        let name = path.file_name().and_then(|name| name.to_str());
        let (Some(folder), Some(name)) = (path.parent(), name) else {
            return Err(BackupError::File {
                path: path.display().to_string(),
                source: std::io::ErrorKind::InvalidFilename.into(),
            });
        };
        Ok(Self {
            folder: Storage::from_path(folder)?,
            name: ObjectPath::from(name),
        })
    }

    const fn place(&self) -> ObjectPlace<'_> {
        ObjectPlace {
            storage: &self.folder,
            path: &self.name,
        }
    }
}

/// Fails if the home contains an object that does not come from this backup.
async fn require_empty(home: &Storage, id: &BackupId) -> Result<(), BackupError> {
    let place = home.url().to_string();
    if let Some(restoring) = is_restoring(home).await? {
        return match restoring.backup == *id {
            true => Ok(()),
            false => Err(BackupError::AnotherRestoring {
                id: restoring.backup,
                home: place,
            }),
        };
    }
    let mut listed = home.store().list(None);
    loop {
        let next = listed.try_next().await.map_err(|source| StorageError::List {
            prefix: place.clone(),
            source,
        })?;
        let Some(meta) = next else {
            return Ok(());
        };
        let path = meta.location.as_ref();
        let is_harmless = HARMLESS.iter().any(|folder| path.starts_with(folder)) || path.starts_with(STATE);
        if !is_harmless {
            return Err(BackupError::NotEmpty { home: place });
        }
    }
}
