use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use super::key::{MasterKey, MasterKeyError, MasterKeys};
use crate::random;

impl MasterKeys {
    /// Reads the keys in the file at `path`, as [`MasterKeys::parse`] does. Without a file, a key is created and stored
    /// durably, accessible to its owner only. Programs that start at the same time all get the same key. Blocks.
    ///
    /// # Errors
    /// [`MasterKeyError::NotPrivate`] if others can read or write the file. The file cannot be read or created, or its
    /// text contains no keys.
    pub fn load_or_make(path: &Path) -> Result<Self, MasterKeyError> {
        match read(path) {
            Err(MasterKeyError::File { source, .. }) if source.kind() == ErrorKind::NotFound => {
                make(path, &MasterKey::generate()?).map_err(|source| MasterKeyError::File {
                    path: path.to_owned(),
                    source,
                })?;
                read(path)
            }
            read => read,
        }
    }

    /// Loads the keys of a file; returns `None` if there is no file.
    ///
    /// # Errors
    /// The errors of [`MasterKeys::load_or_make`].
    pub fn load(path: &Path) -> Result<Option<Self>, MasterKeyError> {
        match read(path) {
            Err(MasterKeyError::File { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    }
}

fn read(path: &Path) -> Result<MasterKeys, MasterKeyError> {
    let failed = |source| MasterKeyError::File {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(failed)?;
    if !is_private(&file.metadata().map_err(failed)?.permissions()) {
        return Err(MasterKeyError::NotPrivate { path: path.to_owned() });
    }
    MasterKeys::parse(&io::read_to_string(file).map_err(failed)?)
}

#[cfg(unix)]
fn is_private(permissions: &Permissions) -> bool {
    std::os::unix::fs::PermissionsExt::mode(permissions) & 0o077 == 0
}

#[cfg(not(unix))]
const fn is_private(_: &Permissions) -> bool {
    true
}

/// Writes a temporary file and links it to its path, unless another process was first.
fn make(path: &Path, key: &MasterKey) -> io::Result<()> {
    let folder = path.parent().ok_or(ErrorKind::InvalidInput)?;
    let suffix: [u8; 8] = random::characters_of_32(b"0123456789abcdefghjkmnpqrstvwxyz").map_err(io::Error::other)?;
    let staged = path.with_extension(String::from_utf8_lossy(&suffix).as_ref());
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&staged)?;
    let written = writeln!(file, "{}", key.text()).and_then(|()| file.sync_all());
    let linked = written.and_then(|()| match std::fs::hard_link(&staged, path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    });
    std::fs::remove_file(&staged)?;
    linked?;
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_key_is_made_once_for_its_owner_alone_and_refused_when_others_can_read_it() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.key");
        let made = MasterKeys::load_or_make(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let again = MasterKeys::load_or_make(&path).unwrap();
        assert_eq!(made.current(), again.current());
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);

        for mode in [0o640, 0o604, 0o620] {
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let refused = MasterKeys::load_or_make(&path).unwrap_err();
            assert!(
                matches!(refused, MasterKeyError::NotPrivate { .. }),
                "{mode:o}: {refused}"
            );
        }
    }

    #[test]
    fn programs_that_start_together_get_the_same_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.key");
        let start = std::sync::Barrier::new(8);
        let ids: Vec<_> = std::thread::scope(|scope| {
            let begin = || {
                start.wait();
                MasterKeys::load_or_make(&path).unwrap().current().id()
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(begin)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(ids.windows(2).all(|two| two[0] == two[1]), "{ids:?}");
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_was_cut_short_is_never_taken_for_a_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.key");
        make(&path, &MasterKey::generate().unwrap()).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        for length in [0, 1, 32, 63] {
            std::fs::write(&path, &text[..length]).unwrap();
            assert!(MasterKeys::load_or_make(&path).is_err(), "{length}");
        }
    }
}
