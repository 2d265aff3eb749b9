//! Backups of a home: every object copied once, named by its SHA-256, and lists of what each backup holds.
//!
//! In: the storage of a home, the storage of the backups, and what the lake's newest tick names ([`LakeCut`]). Out: a
//! [`Manifest`] for each backup, and homes that are restored from one. An object that an earlier backup has is not copied
//! again, and one that has not changed since is not even read. Every byte is hashed on its way in and on its way out.
//!
//! ```text
//! backups/{id}.json.zst         the objects of one backup: path, size, SHA-256
//! objects/{aa}/{sha256}         their bytes
//! backing-up/{id}.json          a backup at work: nothing is pruned meanwhile
//! pruning.json                  a clean-up at work: no backup begins meanwhile
//! ```
//!
//! A home may be written to while it is backed up. The order makes the copy one that a killed home could have left behind:
//! what points at other things is listed before them, and what promises that something was done is copied before the
//! moment of the lake is fixed ([`begin`], then the cut, then [`RunningBackup::finish`]).
//!
//! A caller may note the newest backup down in the home, at [`BACKED_UP`], which is part of none.
//!
//! The crate never changes the home that it backs up, never reads the clock or the environment, and does not know what
//! the state's database is: its dump is a file like any other.

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

/// The path at which a home may have a note of its newest backup.
pub const BACKED_UP: &str = "backed-up.json";

/// Receives the progress of a copy.
pub trait CopyProgress: Send + Sync {
    /// So much is to be looked at in all.
    fn total(&self, objects: u64, bytes: u64);
    /// One object of so many bytes is done.
    fn done(&self, bytes: u64);
}

/// A copy without a progress report.
impl CopyProgress for () {
    fn total(&self, _objects: u64, _bytes: u64) {}
    fn done(&self, _bytes: u64) {}
}
