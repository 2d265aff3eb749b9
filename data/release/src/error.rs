use std::path::PathBuf;

use data_index::{OpenError, Sha256Hex};
use data_model::ReleaseId;
use data_storage::StorageError;

use crate::checks::{self, Violation};
use crate::damage::{self, Damage};

/// Reasons why releases could not be published, listed, fetched or collected.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseError {
    /// The release store failed.
    #[error("cannot {action}")]
    Storage {
        /// The attempt that failed.
        action: &'static str,
        /// The cause.
        #[source]
        source: StorageError,
    },
    /// An object could not be read or written.
    #[error("cannot {action} {path}")]
    Object {
        /// The attempt that failed.
        action: &'static str,
        /// The object.
        path: String,
        /// The cause.
        #[source]
        source: object_store::Error,
    },
    /// A local file could not be read or written.
    #[error("cannot {action} {path}")]
    Local {
        /// The attempt that failed.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// There is no such release, or its manifest was collected.
    #[error("no release {0}")]
    NoSuchRelease(ReleaseId),
    /// A manifest is not what its name says.
    #[error("the manifest of {id} is damaged: {reason}")]
    ManifestDamaged {
        /// The release.
        id: ReleaseId,
        /// The fault.
        reason: String,
    },
    /// A manifest could not be written as JSON.
    #[error("cannot write the manifest of {id}")]
    ManifestNotJson {
        /// The release.
        id: ReleaseId,
        /// The cause.
        #[source]
        source: serde_json::Error,
    },
    /// A file of the release is gone from the store.
    #[error("file {sha256} of release {id} is missing")]
    FileMissing {
        /// The release.
        id: ReleaseId,
        /// The file.
        sha256: Sha256Hex,
    },
    /// A file's content does not have the hash or size that names it.
    #[error("file {sha256} of release {id} is damaged: {size_bytes} bytes with hash {found}")]
    FileDamaged {
        /// The release.
        id: ReleaseId,
        /// The file, by the hash it should have.
        sha256: Sha256Hex,
        /// The hash it has.
        found: Sha256Hex,
        /// The size it has.
        size_bytes: u64,
    },
    /// Files of the release are missing or damaged in the store.
    #[error("release {id} is damaged: {}", damage::text(.damage))]
    Damaged {
        /// The release.
        id: ReleaseId,
        /// Every such file that was found.
        damage: Vec<Damage>,
    },
    /// Files that the release shares with others are damaged in the store, and neither the build nor the cache has
    /// good copies of them.
    #[error(
        "release {id} cannot be published: {}; there is no good copy: `haat release build --full` makes all files anew",
        damage::text(.damage)
    )]
    NoGoodCopy {
        /// The release.
        id: ReleaseId,
        /// The files that were found so.
        damage: Vec<Damage>,
    },
    /// The release must not be published: its checks failed.
    #[error("release {id} fails its checks: {}", checks::text(.violations))]
    ChecksFailed {
        /// The release.
        id: ReleaseId,
        /// Every check that failed.
        violations: Vec<Violation>,
    },
    /// The release cannot be opened.
    #[error("release {id} cannot be opened")]
    Open {
        /// The release.
        id: ReleaseId,
        /// The cause.
        #[source]
        source: OpenError,
    },
    /// The event that makes the release current may be in the log or not: the answer to the append was lost, and the log
    /// cannot be read.
    #[error("{id} may or may not be the current release now; `haat release list` shows it")]
    Unknown {
        /// The release.
        id: ReleaseId,
        /// The store's error.
        #[source]
        source: StorageError,
    },
    /// The lake has no release yet.
    #[error("there is no release yet: `haat release build`")]
    NoRelease,
    /// A release was rolled back to while it was being collected; its manifest was restored and no file removed.
    #[error("release {0} became current while it was being collected; nothing was removed")]
    CollectedWhileCurrent(ReleaseId),
    /// A blocking task was cancelled because the program is stopping.
    #[error("interrupted while trying to {action}")]
    Interrupted {
        /// The attempt that failed.
        action: &'static str,
    },
}
