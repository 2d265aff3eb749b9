use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use data_index::{FileEntry, Manifest, OpenError, Release};
use memmap2::Mmap;

/// A release whose files are all in a local directory, verified.
#[derive(Debug, Clone)]
pub struct LocalRelease {
    pub(crate) manifest: Manifest,
    pub(crate) files: PathBuf,
}

impl LocalRelease {
    /// A release whose files lie in `files`, each named by its SHA-256, as a build leaves them. Their content is
    /// taken on trust; [`ReleaseStore::fetch`](crate::ReleaseStore::fetch) verifies it.
    #[must_use]
    pub fn in_directory(manifest: Manifest, files: &Path) -> Self {
        Self {
            manifest,
            files: files.to_owned(),
        }
    }

    /// The path of one of its files.
    #[must_use]
    pub fn path_of(&self, file: &FileEntry) -> PathBuf {
        self.files.join(file.sha256.to_string())
    }

    /// The release's contents.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Opens it: maps its files, and checks that they are what the manifest says. Blocks for as long as reading the files once
    /// takes.
    ///
    /// # Errors
    /// See [`OpenError`]; a damaged file is an error here, never a crash later.
    pub fn open(self) -> Result<Release, OpenError> {
        self.open_after(None)
    }

    /// As [`LocalRelease::open`], while another release is open: the parts that both hold are opened once, and stay mapped.
    ///
    /// # Errors
    /// As for [`LocalRelease::open`].
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
