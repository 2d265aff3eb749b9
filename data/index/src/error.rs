use std::path::PathBuf;

use arrow::error::ArrowError;
use data_embedding::EmbedError;
use data_model::{ReleaseId, StoreHost};
use data_storage::StorageError;

use crate::digest::Sha256Hex;

/// Reasons why a part could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The part holds as many rows or bytes as it may; finish it and start another.
    #[error("the part is full at {rows} rows")]
    PartFull {
        /// Rows it holds.
        rows: u32,
    },
    /// A product without variants has no price.
    #[error("product {product} has no variants")]
    NoVariants {
        /// Its natural key.
        product: String,
    },
    /// A product of one store was pushed with the facts of another.
    #[error("product {product} is not of store {store}")]
    WrongStore {
        /// Its natural key.
        product: String,
        /// The store whose facts came with it.
        store: StoreHost,
    },
    /// A store's products must be pushed one after the other.
    #[error("the products of store {store} do not stand together")]
    StoreNotTogether {
        /// The store that came twice.
        store: StoreHost,
    },
    /// More text than one product may have.
    #[error("product {product} has {size_bytes} bytes of text, more than {size_bytes_max}")]
    ProductTooLarge {
        /// Its natural key.
        product: String,
        /// Its texts together.
        size_bytes: usize,
        /// The size that is allowed.
        size_bytes_max: usize,
    },
    /// A file could not be written or read back.
    #[error("cannot write {path}")]
    File {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// A column could not be written.
    #[error("cannot write the columns of {file}")]
    Columns {
        /// The file.
        file: &'static str,
        /// The cause.
        #[source]
        source: ArrowError,
    },
    /// The products could not be embedded.
    #[error("the products' vectors cannot be made")]
    Embed(#[from] EmbedError),
}

/// Reasons why a release that was fetched cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The files were written by a program with another layout.
    #[error("the release has layout {found}, this program reads {expected}")]
    Layout {
        /// The release's.
        found: u32,
        /// This program's.
        expected: u32,
    },
    /// The part lacks a file.
    #[error("part {part} has no file {name}")]
    FileMissing {
        /// The part.
        part: String,
        /// The file's name within it.
        name: String,
    },
    /// A file is longer or shorter than the manifest says.
    #[error("{name} of part {part} has {found} bytes, not {expected}")]
    SizeDiffers {
        /// The part.
        part: String,
        /// The file's name within it.
        name: String,
        /// Its size.
        found: u64,
        /// Its size by the manifest.
        expected: u64,
    },
    /// A file cannot be mapped.
    #[error("cannot map {name} of part {part}")]
    Map {
        /// The part.
        part: String,
        /// The file's name within it.
        name: String,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// The cache directory cannot be opened.
    #[error("cannot open {path}")]
    Cache {
        /// The directory.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// A file is no valid Arrow file.
    #[error("{name} of part {part} is no valid Arrow file")]
    Columns {
        /// The part.
        part: String,
        /// The file's name within it.
        name: &'static str,
        /// The cause.
        #[source]
        source: ArrowError,
    },
    /// A file is a valid Arrow file but not what it should hold.
    #[error("{name} of part {part}: {what}")]
    Content {
        /// The part.
        part: String,
        /// The file's name within it.
        name: &'static str,
        /// The fault.
        what: &'static str,
    },
    /// The manifest contradicts itself.
    #[error("the manifest contradicts itself: {what}")]
    Manifest {
        /// The fault.
        what: &'static str,
    },
}

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
    #[error("release {id} is damaged: {}", crate::store::damage_text(.damage))]
    Damaged {
        /// The release.
        id: ReleaseId,
        /// Every such file that was found.
        damage: Vec<crate::Damage>,
    },
    /// Files that the release shares with others are damaged in the store, and neither the build nor the cache has
    /// good copies of them.
    #[error(
        "release {id} cannot be published: {}; there is no good copy: `haat release build --full` makes all files anew",
        crate::store::damage_text(.damage)
    )]
    NoGoodCopy {
        /// The release.
        id: ReleaseId,
        /// The files that were found so.
        damage: Vec<crate::Damage>,
    },
    /// The release must not be published: its checks failed.
    #[error("release {id} fails its checks: {}", crate::store::violations_text(.violations))]
    ChecksFailed {
        /// The release.
        id: ReleaseId,
        /// Every check that failed.
        violations: Vec<crate::Violation>,
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
    /// Nothing has been published yet.
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
