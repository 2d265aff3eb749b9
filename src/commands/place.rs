//! Output of a result: standard output, or a file that is written completely or not at all.

use std::fs::{File, Metadata};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tempfile::NamedTempFile;

use crate::exit::usage;
use crate::output::Output;

/// Target for the bytes of a result.
#[derive(Debug)]
pub(super) enum Place {
    StandardOutput,
    File(NewFile),
}

impl Place {
    /// Returns standard output, or a new file at `out`.
    ///
    /// # Errors
    /// As [`NewFile::create`].
    pub(super) fn open(out: Option<&Path>, force: bool) -> anyhow::Result<Self> {
        out.map_or(Ok(Self::StandardOutput), |path| {
            NewFile::create(path, force).map(Self::File)
        })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        match self {
            Self::StandardOutput if bytes.is_empty() => Ok(()),
            Self::StandardOutput => Output::write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    pub(super) fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::StandardOutput => Ok(()),
            Self::File(file) => file.finish(),
        }
    }
}

/// File with a temporary name beside its target until it is complete. If it is dropped earlier, nothing is left.
#[derive(Debug)]
pub(super) struct NewFile {
    partial: NamedTempFile,
    path: PathBuf,
    force: bool,
}

impl NewFile {
    /// Creates the temporary file beside `path`.
    ///
    /// # Errors
    /// Fails if the target exists without `force`, or if no file can be created in the folder.
    pub(super) fn create(path: &Path, force: bool) -> anyhow::Result<Self> {
        let shown = path.display();
        let path = match std::fs::metadata(path) {
            Ok(metadata) => replaceable(&metadata, path, force)?,
            Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(error).with_context(|| format!("--out: {shown}")),
        };
        if path.file_name().is_none() {
            return Err(usage(anyhow::anyhow!("--out: {shown} is not a file name")));
        }
        let folder = folder_of(&path);
        let mut builder = tempfile::Builder::new();
        builder.prefix(".haat-").suffix(".partial");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            // These are the default permissions of a new file, which the process's umask reduces.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let partial = builder.tempfile_in(folder);
        let partial = partial.with_context(|| format!("--out: no file can be created in {}", folder.display()))?;
        Ok(Self { partial, path, force })
    }

    fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let written = self.partial.write_all(bytes);
        written.with_context(|| format!("--out: {}", self.path.display()))
    }

    fn finish(self) -> anyhow::Result<()> {
        let Self { partial, path, force } = self;
        let at = || format!("--out: {}", path.display());
        partial.as_file().sync_all().with_context(at)?;
        let put = if force {
            partial.persist(&path)
        } else {
            partial.persist_noclobber(&path)
        };
        match put {
            Ok(_) => {}
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => return Err(exists(&path)),
            Err(error) => return Err(error.error).with_context(at),
        }
        let folder = File::open(folder_of(&path));
        folder.and_then(|folder| folder.sync_all()).with_context(at)
    }
}

fn folder_of(file: &Path) -> &Path {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

fn exists(path: &Path) -> anyhow::Error {
    usage(anyhow::anyhow!(
        "--out: {} already exists; --force replaces it",
        path.display()
    ))
}

/// Returns the path to replace if a file exists there. For a symbolic link, this is the path of its target.
fn replaceable(metadata: &Metadata, path: &Path, force: bool) -> anyhow::Result<PathBuf> {
    if !metadata.is_file() {
        return Err(usage(anyhow::anyhow!("--out: {} is not a file", path.display())));
    }
    if !force {
        return Err(exists(path));
    }
    path.canonicalize()
        .with_context(|| format!("--out: {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_there_once_it_is_complete_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let mut file = NewFile::create(&path, false).unwrap();
        file.write(b"n\n1\n").unwrap();
        assert!(!path.exists());
        file.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"n\n1\n");
        assert_eq!(names(folder.path()), ["a.csv"]);
    }

    #[test]
    fn a_file_that_is_given_up_leaves_nothing_and_the_one_before_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "before").unwrap();
        let mut file = NewFile::create(&path, true).unwrap();
        file.write(b"half").unwrap();
        drop(file);
        assert_eq!(std::fs::read(&path).unwrap(), b"before");
        assert_eq!(names(folder.path()), ["a.csv"]);
    }

    #[test]
    fn what_is_there_is_kept_without_force_also_when_it_came_in_the_meantime() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let early = NewFile::create(&path, false).unwrap();
        std::fs::write(&path, "before").unwrap();
        let told = NewFile::create(&path, false).unwrap_err().to_string();
        assert!(told.contains("--force"), "{told}");
        assert!(early.finish().unwrap_err().to_string().contains("--force"));
        assert_eq!(std::fs::read(&path).unwrap(), b"before");
        let told = NewFile::create(folder.path(), true).unwrap_err().to_string();
        assert!(told.contains("is not a file"), "{told}");
        assert_eq!(names(folder.path()), ["a.csv"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_what_it_leads_to_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a.csv"), folder.path().join("latest.csv"));
        std::fs::write(&path, "before").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let mut file = NewFile::create(&link, true).unwrap();
        file.write(b"after").unwrap();
        file.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"after");
        assert!(link.symlink_metadata().unwrap().is_symlink());
    }
}
