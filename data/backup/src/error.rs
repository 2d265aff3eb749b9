use data_storage::StorageError;

use crate::BackupId;

/// Reason why a home could not be backed up or restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The backup does not exist.
    #[error("there is no backup {id}")]
    NoSuchBackup {
        /// Id of the requested backup.
        id: BackupId,
    },
    /// There are no backups.
    #[error("there is no backup at {url}")]
    NoBackup {
        /// URL at which backups were searched.
        url: String,
    },
    /// The manifest of a backup cannot be read.
    #[error("the manifest of backup {id} is damaged")]
    Manifest {
        /// Id of the backup.
        id: BackupId,
        /// Underlying I/O error.
        #[source]
        source: std::io::Error,
    },
    /// The manifest was written by a newer version of the program.
    #[error("backup {id} has format {format}, which only a newer version of haat can read")]
    Newer {
        /// Id of the backup.
        id: BackupId,
        /// Format number of the manifest.
        format: u32,
    },
    /// Objects of a backup are missing or damaged.
    #[error("backup {id} is damaged; missing or damaged are: {}", listed(lost))]
    Damaged {
        /// Id of the backup.
        id: BackupId,
        /// Paths of the missing or damaged objects.
        lost: Vec<String>,
    },
    /// The home to restore to is not empty.
    #[error("{home} is not empty: restore the backup to an empty home")]
    NotEmpty {
        /// URL of the home.
        home: String,
    },
    /// Another backup is already being restored to this home.
    #[error("backup {id} is already being restored to {home}: finish that restore first, or empty the home")]
    AnotherRestoring {
        /// Id of the other backup.
        id: BackupId,
        /// URL of the home.
        home: String,
    },
    /// A backup and a clean-up of backups cannot run at the same time.
    #[error("{what} is in progress, according to {path}: wait until it ends (after a crash, wait three hours)")]
    Busy {
        /// Kind of work in progress.
        what: &'static str,
        /// Path of the marker that reports it.
        path: String,
    },
    /// The program was paused for so long that other programs may have considered it dead.
    #[error("{path} was not renewed for hours, so another process may have taken over: this run stops; start it again")]
    Lapsed {
        /// Path of the program's marker.
        path: String,
    },
    /// An object changed during every attempt to read it.
    #[error("{path} changed during each of {tries} attempts to copy it")]
    Unsteady {
        /// Path of the object.
        path: String,
        /// Number of attempts.
        tries: u32,
    },
    /// The home and the backups are inside each other.
    #[error("backups and home must not be inside each other: {home}, {backups}")]
    Nested {
        /// URL of the home.
        home: String,
        /// URL of the backups.
        backups: String,
    },
    /// A local file could not be read.
    #[error("cannot read or create {path}")]
    File {
        /// Path of the file.
        path: String,
        /// Underlying I/O error.
        #[source]
        source: std::io::Error,
    },
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Lists the first paths, and the number of the others.
fn listed(paths: &[String]) -> String {
    let (first, others) = paths.split_at(paths.len().min(20));
    match others.len() {
        0 => first.join(", "),
        others => format!("{}, and {others} more", first.join(", ")),
    }
}
