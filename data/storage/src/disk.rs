//! Blocking file operations whose writes survive a power failure.
//!
//! A file is written under a unique name in the staging directory, synced and moved to its final path. Then its
//! directory is synced. Newly created directories are first synced into their parents.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use uuid::Uuid;

/// Directory for incomplete files. Names in it end in `#1`, which the local store of `object_store` never lists.
pub(crate) const STAGING: &str = ".staging";

/// Maximum number of directories remembered as synced. A further one clears the memory.
const SYNCED_DIRS_MAX: usize = 65_536;
/// Maximum number of attempts to move a file whose target directory another process is removing.
const ATTEMPTS_MAX: u32 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Replace,
    MustBeAbsent,
}

/// Users who may read new files, subject to the umask of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    Anybody,
    OwnerAlone,
}

impl Readers {
    fn make_dirs(self, dir: &Path) -> io::Result<()> {
        let mode = if self == Self::OwnerAlone { 0o700 } else { 0o777 };
        DirBuilder::new().recursive(true).mode(mode).create(dir)
    }

    fn new_file(self) -> OpenOptions {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(self.file_mode());
        options
    }

    fn file_mode(self) -> u32 {
        if self == Self::OwnerAlone { 0o600 } else { 0o666 }
    }
}

#[derive(Debug)]
pub(crate) struct Disk {
    root: PathBuf,
    readers: Readers,
    synced_dirs: Mutex<HashSet<PathBuf>>,
    // The lock is shared from the first write on. A process with the exclusive lock knows that no other process is
    // writing, so that files in the staging directory are left from a process that died.
    staging_lock: OnceLock<Option<File>>,
}

impl Disk {
    pub(crate) fn open(root: &Path, readers: Readers) -> io::Result<Self> {
        let root = std::path::absolute(root)?;
        let existing = root.ancestors().find(|dir| dir.exists()).map(Path::to_path_buf);
        readers.make_dirs(&root)?;
        for dir in root
            .ancestors()
            .skip(1)
            .take_while(|dir| existing.as_deref().is_some_and(|old| dir.starts_with(old)))
        {
            sync_dir(dir)?;
        }
        let root = fs::canonicalize(root)?;
        if !fs::metadata(&root)?.is_dir() {
            return Err(io::Error::from(ErrorKind::NotADirectory));
        }
        let synced_dirs = Mutex::new(HashSet::from([root.clone()]));
        Ok(Self {
            root,
            readers,
            synced_dirs,
            staging_lock: OnceLock::new(),
        })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// No reader sees a file in the staging directory.
    pub(crate) fn stage(&self) -> io::Result<(File, PathBuf)> {
        let (staging, mut last) = (self.staging()?, None);
        for _ in 0..ATTEMPTS_MAX {
            let path = staging.join(format!("{}#1", Uuid::new_v4()));
            match self.readers.new_file().open(&path) {
                Ok(file) => return Ok((file, path)),
                Err(error) if error.kind() == ErrorKind::NotFound => self.readers.make_dirs(&staging)?,
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| ErrorKind::NotFound.into()))
    }

    pub(crate) fn stage_link(&self, from: &Path) -> io::Result<PathBuf> {
        // A file that another program created may not be synced yet.
        File::open(from)?.sync_data()?;
        let path = self.staging()?.join(format!("{}#1", Uuid::new_v4()));
        if fs::hard_link(from, &path).is_err() {
            // Not every file system supports hard links.
            fs::copy(from, &path).and_then(|_| File::open(&path)?.sync_data())?;
        }
        Ok(path)
    }

    /// Moves a synced file to its target path and syncs the move. After an error, the file may be at the target.
    pub(crate) fn publish(&self, from: &Path, to: &Path, target: Target) -> io::Result<()> {
        let dir = to.parent().ok_or(ErrorKind::InvalidInput)?;
        for attempt in 1..=ATTEMPTS_MAX {
            self.ensure_dir(dir)?;
            let moved = match target {
                Target::Replace => fs::rename(from, to),
                Target::MustBeAbsent => rename_new(from, to),
            };
            match moved {
                // Another process removed the directory, so that its cached state is outdated.
                Err(error) if error.kind() == ErrorKind::NotFound && attempt < ATTEMPTS_MAX && from.exists() => {
                    self.forget_dir(dir);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    // The winner may not have synced yet, but the loser acts on what it sees.
                    sync_dir(dir)?;
                    return Err(error);
                }
                Err(error) => return Err(error),
                Ok(()) => return sync_dir(dir),
            }
        }
        Err(ErrorKind::NotFound.into())
    }

    /// Syncs each affected directory once, and returns the result for each file. A missing file counts as removed.
    pub(crate) fn remove(&self, paths: &[PathBuf]) -> Vec<io::Result<()>> {
        let mut results: Vec<io::Result<()>> = Vec::with_capacity(paths.len());
        let mut dirs = HashSet::new();
        for path in paths {
            results.push(match fs::remove_file(path) {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                result => result.map(|()| dirs.extend(path.parent())),
            });
        }
        for dir in dirs {
            let synced = match sync_dir(dir) {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                synced => synced,
            };
            if let Err(error) = synced {
                let failed = paths
                    .iter()
                    .zip(&mut results)
                    .filter(|(path, _)| path.parent() == Some(dir));
                failed.for_each(|(_, result)| *result = Err(io::Error::new(error.kind(), error.to_string())));
            }
        }
        results
    }

    /// Creates a directory and its parents below the root, and syncs each new entry.
    fn ensure_dir(&self, dir: &Path) -> io::Result<()> {
        if self
            .synced_dirs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(dir)
        {
            return Ok(());
        }
        self.readers.make_dirs(dir)?;
        // Another process may have just created the directory without a sync.
        let below_root: Vec<&Path> = dir.ancestors().take_while(|dir| *dir != self.root).collect();
        for dir in below_root.iter().rev() {
            sync_dir(dir.parent().ok_or(ErrorKind::InvalidInput)?)?;
        }
        let mut synced = self.synced_dirs.lock().unwrap_or_else(PoisonError::into_inner);
        if synced.len() >= SYNCED_DIRS_MAX {
            synced.clear();
        }
        synced.extend(below_root.into_iter().map(Path::to_path_buf));
        Ok(())
    }

    fn forget_dir(&self, dir: &Path) {
        let mut synced = self.synced_dirs.lock().unwrap_or_else(PoisonError::into_inner);
        for dir in dir.ancestors().take_while(|dir| *dir != self.root) {
            synced.remove(dir);
        }
    }

    fn staging(&self) -> io::Result<PathBuf> {
        let staging = self.root.join(STAGING);
        if self.staging_lock.get().is_none() {
            self.ensure_dir(&staging)?;
            let lock = lock_staging(&staging, self.readers.file_mode()).unwrap_or_else(|error| {
                tracing::debug!(%error, "file locks are not supported here: files left by a crashed process are not cleaned up");
                None
            });
            // Two threads may both take the shared lock, but only one of the two handles is stored.
            let _ = self.staging_lock.set(lock);
        }
        Ok(staging)
    }
}

/// Takes the shared lock. Empties the directory first if no other process has it locked.
fn lock_staging(staging: &Path, mode: u32) -> io::Result<Option<File>> {
    const LOCK: &str = "lock#0";
    let lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(mode)
        .open(staging.join(LOCK))?;
    match lock.try_lock() {
        Ok(()) => {
            for entry in fs::read_dir(staging)? {
                let entry = entry?;
                if entry.file_name() != OsStr::new(LOCK) {
                    fs::remove_file(entry.path())?;
                }
            }
            lock.unlock()?;
        }
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(error),
    }
    lock.lock_shared()?;
    Ok(Some(lock))
}

fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::NOTSUP) => {
            fs::hard_link(from, to)?;
            // Only the link matters. A later cleanup removes the staged name.
            let _ = fs::remove_file(from);
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
