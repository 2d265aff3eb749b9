//! Servers that run on a home. Each server writes a note with its address and locks the note while it runs.
//!
//! The lock ends with the process, even after a crash. A note without a lock therefore belongs to a server that is
//! gone.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use data_storage::Storage;

/// Folder of the notes in a local home.
const FOLDER: &str = "state/servers";
/// Maximum size of a note, which contains one address.
const NOTE_BYTES_MAX: u64 = 4096;

/// Note of a server in this process. Dropping it removes the file.
#[derive(Debug)]
pub(crate) struct Note {
    path: PathBuf,
    _locked: File,
}

impl Note {
    /// Writes a note about a server with a dashboard at `public_url` that listens on `port`. Returns `None` if the home
    /// is no folder or cannot be written, which is no error.
    pub(crate) fn leave(storage: &Storage, port: u16, public_url: &str) -> Option<Self> {
        let folder = storage.local_dir()?.join(FOLDER);
        match write(&folder, port, public_url) {
            Ok(note) => Some(note),
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::debug!(error, "the server's address could not be recorded");
                None
            }
        }
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Writes the note. The file is locked before it gets its name, so that nobody finds it without a lock.
fn write(folder: &Path, port: u16, public_url: &str) -> io::Result<Note> {
    fs::create_dir_all(folder)?;
    let path = folder.join(port.to_string());
    let fresh = folder.join(format!("{port}.{}", std::process::id()));
    let mut file = File::create(&fresh)?;
    file.try_lock()?;
    file.write_all(public_url.as_bytes())?;
    fs::rename(&fresh, &path)?;
    Ok(Note { path, _locked: file })
}

/// Returns the address of the server that was started last on this home and still runs.
pub(crate) fn newest(storage: &Storage) -> Option<String> {
    let folder = storage.local_dir()?.join(FOLDER);
    let notes = fs::read_dir(folder).ok()?.flatten();
    let running = notes.filter_map(|entry| read(&entry.path()).ok().flatten());
    running.max().map(|(_, address)| address)
}

/// Reads the creation time and address from a running server's note. A note without a lock is removed.
fn read(path: &Path) -> io::Result<Option<(SystemTime, String)>> {
    let file = File::open(path)?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(error),
        Ok(()) => {
            fs::remove_file(path)?;
            return Ok(None);
        }
    }
    let about = file.metadata()?;
    let mut address = String::new();
    io::Read::read_to_string(&mut io::Read::take(&file, NOTE_BYTES_MAX), &mut address)?;
    Ok(Some((about.modified()?, address)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_found_while_its_server_runs_and_not_after() {
        let home = tempfile::tempdir().unwrap();
        let storage = Storage::from_path(home.path()).unwrap();
        assert_eq!(newest(&storage), None);
        let note = Note::leave(&storage, 4711, "http://127.0.0.1:4711").unwrap();
        assert_eq!(newest(&storage).as_deref(), Some("http://127.0.0.1:4711"));
        drop(note);
        assert_eq!(newest(&storage), None);
        // The note of a killed server has no lock.
        let left = home.path().join(FOLDER).join("4712");
        fs::write(&left, "http://127.0.0.1:4712").unwrap();
        assert_eq!(newest(&storage), None);
        assert!(!left.exists());
    }
}
