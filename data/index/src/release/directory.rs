use std::io;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    DirectoryLock, FileHandle, Lock, MmapDirectory, RamDirectory, WatchCallback, WatchHandle, WritePtr,
};

/// The directory of one text index over all parts: segment files are mapped where the cache has them, what
/// composes them (`meta.json`, masks of dead rows) is held in memory. Nothing can be written.
#[derive(Clone)]
pub(super) struct ReleaseDirectory {
    pub(super) composed: RamDirectory,
    pub(super) files: MmapDirectory,
    /// The names of files in the cache by the names of segment files.
    pub(super) names: Arc<FxHashMap<String, String>>,
}

impl std::fmt::Debug for ReleaseDirectory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReleaseDirectory")
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "a release is never written to")
}

impl ReleaseDirectory {
    fn name(&self, path: &Path) -> Option<&String> {
        path.to_str().and_then(|name| self.names.get(name))
    }
}

impl Directory for ReleaseDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        match self.name(path) {
            Some(name) => self.files.get_file_handle(Path::new(name)),
            None => self.composed.get_file_handle(path),
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError {
            io_error: Arc::new(read_only()),
            filepath: path.to_owned(),
        })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        if self.name(path).is_some() {
            Ok(true)
        } else {
            self.composed.exists(path)
        }
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::IoError {
            io_error: Arc::new(read_only()),
            filepath: path.to_owned(),
        })
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.composed.atomic_read(path)
    }

    fn atomic_write(&self, _path: &Path, _data: &[u8]) -> io::Result<()> {
        Err(read_only())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, _lock: &Lock) -> Result<DirectoryLock, LockError> {
        // Files never change while they are open: there is nothing to lock.
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}
