//! Backups of a home: every object copied once, named by its SHA-256, and manifests that list the objects of each
//! backup.
//!
//! Input: the storage of a home, the storage of the backups, and the versions of the lake's newest commit batch
//! ([`LakeCut`]). Output: a [`Manifest`] for each backup, and homes restored from a backup. Objects that an earlier
//! backup has are not copied again, and objects that have not changed since are not even read. All copied bytes are
//! hashed.
//!
//! ```text
//! backups/{id}.json.zst         manifest of one backup: path, size and SHA-256 of its objects
//! objects/{aa}/{sha256}         bytes of the objects
//! backing-up/{id}.json          marker of a running backup: no clean-up runs meanwhile
//! pruning.json                  marker of a running clean-up: no backup begins meanwhile
//! ```
//!
//! A home may be written to while it is backed up. The order of copying makes the backup equal to a state that a killed
//! process could have left behind. Objects that refer to other objects are listed before them. Objects that record
//! completed work are copied before the lake's state is fixed ([`begin`], then the cut, then
//! [`RunningBackup::finish`]).
//!
//! A caller may record the newest backup in the home, at [`BACKED_UP`]. The object at [`BACKED_UP`] is not in any
//! backup.
//!
//! The crate never changes the home that it backs up, and never reads the clock or the environment. The crate does not
//! know the state database: the database's dump is a file like any other.

mod backups;
mod copy;
mod cut;
mod error;
mod keep;
mod manifest;
mod mark;
mod restore;
mod take;
mod verify;

pub use backups::{BackupSummary, list, load};
pub use cut::LakeCut;
pub use error::BackupError;
pub use keep::{PruneReport, prune, set_aside};
pub use manifest::{BackupId, BackupIdError, Entry, Manifest, STATE_DUMP};
pub use restore::{RESTORING, RestoreNote, RestoreOptions, RestoredHome, is_restoring, restore, state_dump};
pub use take::{BackupReport, ExtraFile, RunningBackup, TakeOptions, begin};
pub use verify::{VerifyReport, verify};

/// Path in a home where a caller may record its newest backup.
pub const BACKED_UP: &str = "backed-up.json";

/// Receives the progress of a copy.
pub trait CopyProgress: Send + Sync {
    /// Reports the total number of objects and bytes to process.
    fn total(&self, objects: u64, bytes: u64);
    /// Reports that an object with this number of bytes is done.
    fn done(&self, bytes: u64);
}

impl CopyProgress for () {
    fn total(&self, _objects: u64, _bytes: u64) {}
    fn done(&self, _bytes: u64) {}
}
