use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use data_index::{FileEntry, Manifest, OpenError, Release};
use memmap2::Mmap;

/// A release whose files are all verified and in a local directory.
#[derive(Debug, Clone)]
pub struct LocalRelease {
    pub(crate) manifest: Manifest,
    pub(crate) files: PathBuf,
}

impl LocalRelease {
    /// Creates a local release whose files are in `files`, each named by its SHA-256, as a build leaves them. Only
    /// [`ReleaseStore::fetch`](crate::ReleaseStore::fetch) verifies their content.
    #[must_use]
    pub fn in_directory(manifest: Manifest, files: &Path) -> Self {
        Self {
            manifest,
            files: files.to_owned(),
        }
    }

    /// Returns the path of a file of the release.
    #[must_use]
    pub fn path_of(&self, file: &FileEntry) -> PathBuf {
        self.files.join(file.sha256.to_string())
    }

    /// Returns the manifest of the release.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Opens the release: maps its files into memory and checks them against the manifest. Blocks while all files are
    /// read once.
    ///
    /// # Errors
    /// A damaged file gives an [`OpenError`] here and no crash later.
    pub fn open(self) -> Result<Release, OpenError> {
        self.open_after(None)
    }

    /// Opens the release while another one is open. Parts that both releases have are opened once, and stay mapped.
    ///
    /// # Errors
    /// The errors of [`LocalRelease::open`].
    pub fn open_after(self, previous: Option<&Release>) -> Result<Release, OpenError> {
        std::fs::read_dir(&self.files).map_err(|source| OpenError::Cache {
            path: self.files.clone(),
            source,
        })?;
        let Self { manifest, files } = self;
        Release::open(manifest, &|file| map(&files.join(file.sha256.to_string())), previous)
    }
}

fn map(path: &Path) -> io::Result<Bytes> {
    let file = File::open(path)?;
    #[expect(
        unsafe_code,
        reason = "the bytes of a mapped file must not change: it is named by its content, and nobody writes it again"
    )]
    let mapped = unsafe { Mmap::map(&file) }?;
    Ok(Bytes::from_owner(mapped))
}
