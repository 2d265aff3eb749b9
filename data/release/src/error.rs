use std::path::PathBuf;

use data_index::{OpenError, Sha256Hex};
use data_model::ReleaseId;
use data_storage::StorageError;

use crate::checks::{self, Violation};
use crate::damage::{self, Damage};

/// Reason why releases could not be published, listed, fetched or garbage-collected.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseError {
    /// The release store failed.
    #[error("cannot {action}")]
    Storage {
        /// Operation that failed.
        action: &'static str,
        /// Underlying storage error.
        #[source]
        source: StorageError,
    },
    /// An object could not be read or written.
    #[error("cannot {action} {path}")]
    Object {
        /// Operation that failed.
        action: &'static str,
        /// Path of the object.
        path: String,
        /// Underlying object store error.
        #[source]
        source: object_store::Error,
    },
    /// A local file could not be read or written.
    #[error("cannot {action} {path}")]
    Local {
        /// Operation that failed.
        action: &'static str,
        /// Path of the local file.
        path: PathBuf,
        /// Underlying I/O error.
        #[source]
        source: std::io::Error,
    },
    /// The release does not exist, or its manifest was garbage-collected.
    #[error("no release {0}")]
    NoSuchRelease(ReleaseId),
    /// The content of a manifest does not match its id.
    #[error("the manifest of {id} is damaged: {reason}")]
    ManifestDamaged {
        /// Id of the release.
        id: ReleaseId,
        /// Description of the fault.
        reason: String,
    },
    /// A manifest could not be serialized as JSON.
    #[error("cannot write the manifest of {id}")]
    ManifestNotJson {
        /// Id of the release.
        id: ReleaseId,
        /// Underlying JSON error.
        #[source]
        source: serde_json::Error,
    },
    /// A file of the release is missing in the store.
    #[error("file {sha256} of release {id} is missing")]
    FileMissing {
        /// Id of the release.
        id: ReleaseId,
        /// Hash of the missing file.
        sha256: Sha256Hex,
    },
    /// The content of a file does not match its expected hash or size.
    #[error("file {sha256} of release {id} is damaged: {size_bytes} bytes with hash {found}")]
    FileDamaged {
        /// Id of the release.
        id: ReleaseId,
        /// Expected hash of the file.
        sha256: Sha256Hex,
        /// Actual hash of the file.
        found: Sha256Hex,
        /// Actual size of the file in bytes.
        size_bytes: u64,
    },
    /// Files of the release are missing or damaged in the store.
    #[error("release {id} is damaged: {}", damage::text(.damage))]
    Damaged {
        /// Id of the release.
        id: ReleaseId,
        /// Every damaged file that was found.
        damage: Vec<Damage>,
    },
    /// Files that the release shares with others are damaged in the store, and neither the build nor the cache has
    /// intact copies.
    #[error(
        "release {id} cannot be published: {}; there is no intact copy: run `haat release build --full` to rebuild all files",
        damage::text(.damage)
    )]
    NoGoodCopy {
        /// Id of the release.
        id: ReleaseId,
        /// Damaged files that were found.
        damage: Vec<Damage>,
    },
    /// The release must not be published, because its checks failed.
    #[error("release {id} does not pass its checks: {}", checks::text(.violations))]
    ChecksFailed {
        /// Id of the release.
        id: ReleaseId,
        /// Every check that failed.
        violations: Vec<Violation>,
    },
    /// The release cannot be opened.
    #[error("release {id} cannot be opened")]
    Open {
        /// Id of the release.
        id: ReleaseId,
        /// Reason why the release cannot be opened.
        #[source]
        source: OpenError,
    },
    /// The response to the append of the event was lost, and the log cannot be read. The release may be current.
    #[error("it is unknown if {id} is the current release now: check with `haat release list`")]
    Unknown {
        /// Id of the release.
        id: ReleaseId,
        /// Underlying storage error.
        #[source]
        source: StorageError,
    },
    /// There is no release yet.
    #[error("there is no release yet: run `haat release build`")]
    NoRelease,
    /// The target of a rollback was garbage-collected during the rollback. Its manifest was restored, and no file was
    /// removed.
    #[error("release {0} became current while garbage collection was removing it; no file was removed")]
    CollectedWhileCurrent(ReleaseId),
    /// A blocking task was cancelled because the program is stopping.
    #[error("interrupted while trying to {action}")]
    Interrupted {
        /// Operation that failed.
        action: &'static str,
    },
}
