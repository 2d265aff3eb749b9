use data_storage::StorageError;

use crate::BackupId;

/// The reason why a home could not be backed up or restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// There is no such backup.
    #[error("there is no backup {id}")]
    NoSuchBackup {
        /// Its name.
        id: BackupId,
    },
    /// There is no backup at all.
    #[error("there is no backup at {url}")]
    NoBackup {
        /// The place where they were looked for.
        url: String,
    },
    /// The list of a backup's objects cannot be read.
    #[error("the list of backup {id} is damaged")]
    Manifest {
        /// The backup.
        id: BackupId,
        /// The error of the reader.
        #[source]
        source: std::io::Error,
    },
    /// The list was written by a newer version of the program.
    #[error("backup {id} has format {format}: a newer version of haat made it")]
    Newer {
        /// The backup.
        id: BackupId,
        /// Its format.
        format: u32,
    },
    /// Objects of a backup are not there, or not what they were.
    #[error("backup {id}: {count} of its objects are lost or damaged, {first} among them")]
    Damaged {
        /// The backup.
        id: BackupId,
        /// The number of them.
        count: usize,
        /// The path of one of them.
        first: String,
    },
    /// The home that was to be restored to holds something already.
    #[error("{home} is not empty: a backup is restored to a home that holds nothing")]
    NotEmpty {
        /// The home.
        home: String,
    },
    /// Another backup is being restored to this home.
    #[error("backup {id} is being restored to {home}: restore that one to its end, or empty the home")]
    AnotherRestoring {
        /// The other backup.
        id: BackupId,
        /// The home.
        home: String,
    },
    /// A backup and a clean-up of backups exclude each other.
    #[error(
        "{what} is at work there, according to {path}: wait for its end (one that was killed is waited for three hours)"
    )]
    Busy {
        /// The work that is under way.
        what: &'static str,
        /// The mark that says so.
        path: String,
    },
    /// The program stood still for so long that others may have taken it for dead.
    #[error(
        "{path} was not renewed for hours, and others may have gone on meanwhile: nothing more is done; run it again"
    )]
    Lapsed {
        /// The mark of its work.
        path: String,
    },
    /// An object changed each time it was read.
    #[error("{path} changed while it was copied, {tries} times in a row")]
    Unsteady {
        /// The object.
        path: String,
        /// The number of reads.
        tries: u32,
    },
    /// A place inside the home is no place for its backups, and the other way round.
    #[error("backups and home must not lie within each other: {home}, {backups}")]
    Nested {
        /// The home.
        home: String,
        /// The place for the backups.
        backups: String,
    },
    /// A file of this machine could not be read.
    #[error("cannot read {path}")]
    File {
        /// The file.
        path: String,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}
