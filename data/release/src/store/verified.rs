use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use data_model::Timestamp;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::cache::{age, files_dir, partial_dir};

/// Metadata of a file that changes when the file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) size_bytes: u64,
    inode: u64,
    /// Modification time in nanoseconds.
    modified: i64,
    changed: i64,
}

impl State {
    pub(super) fn of(path: &Path) -> std::io::Result<Self> {
        let metadata = std::fs::metadata(path)?;
        let nanos = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        Ok(Self {
            size_bytes: metadata.len(),
            inode: metadata.ino(),
            modified: nanos(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanos(metadata.ctime(), metadata.ctime_nsec()),
        })
    }

    /// Returns `true` if a write after `now` would change the metadata. File system clocks are coarse, some with a
    /// resolution of two seconds.
    fn is_settled(&self, now: Timestamp) -> bool {
        let age_nanos = now.micros().saturating_mul(1000).saturating_sub(self.modified);
        let tick_nanos = if self.modified % 1_000_000_000 == 0 {
            2_000_000_000
        } else {
            50_000_000
        };
        age_nanos > tick_nanos
    }
}

/// Time for which a verified file with unchanged metadata counts as verified. Disks can corrupt data silently.
const BELIEVED: Duration = Duration::from_secs(24 * 3600);
const INDEX: &str = "verified.json";
const INDEX_BYTES_MAX: u64 = 64 << 20;

/// Local files whose content was verified. Without this record, a server that polls, or a build that changes one
/// percent, would hash its whole cache at every release.
#[derive(Debug, Default)]
pub(super) struct VerifiedFiles(Mutex<FileStates>);

#[derive(Debug, Default)]
struct FileStates {
    own: FxHashMap<PathBuf, State>,
    /// Index of each cache folder: file states by file name.
    cached: BTreeMap<PathBuf, Index>,
    /// `true` if this process verified files that the saved indexes lack.
    unsaved: bool,
}

type Index = BTreeMap<String, Entry>;

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Entry {
    at: Timestamp,
    #[serde(flatten)]
    state: State,
}

impl VerifiedFiles {
    pub(super) fn knows(&self, path: &Path, state: State, now: Timestamp) -> bool {
        let known = self.known();
        if known.own.get(path) == Some(&state) {
            return true;
        }
        let entry = path.parent().and_then(|dir| known.cached.get(dir)).and_then(|index| {
            let name = path.file_name()?.to_str()?;
            index.get(name)
        });
        entry.is_some_and(|entry| entry.state == state && entry.at <= now && age(entry.at, now) < BELIEVED)
    }

    /// The file was hashed at `now` and had this state before.
    pub(super) fn remember(&self, path: PathBuf, state: State, now: Timestamp) {
        let mut known = self.known();
        let name = path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        let index = path.parent().and_then(|dir| known.cached.get_mut(dir));
        if let (Some(index), Some(name), true) = (index, name, state.is_settled(now)) {
            index.insert(name, Entry { at: now, state });
            known.unsaved = true;
        }
        known.own.insert(path, state);
    }

    /// An unreadable index counts as empty.
    pub(super) fn load(&self, cache: &Path) {
        let files = files_dir(cache);
        if self.known().cached.contains_key(&files) {
            return;
        }
        let path = cache.join(INDEX);
        let small = std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= INDEX_BYTES_MAX);
        let json = small.then(|| std::fs::read(&path).ok()).flatten();
        let index = json.and_then(|json| serde_json::from_slice(&json).ok());
        self.known()
            .cached
            .entry(files)
            .or_insert_with(|| index.unwrap_or_default());
    }

    /// Writes a cache's index if this process has new entries. A failure only costs time.
    pub(super) fn save(&self, cache: &Path) {
        let files = files_dir(cache);
        let mut known = self.known();
        if !std::mem::take(&mut known.unsaved) {
            return;
        }
        let Some(index) = known.cached.get_mut(&files) else {
            return;
        };
        index.retain(|name, _| files.join(name).exists());
        let json = serde_json::to_vec(index);
        drop(known);
        let partial = partial_dir(cache).join(Uuid::new_v4().to_string());
        let written = json
            .map_err(std::io::Error::other)
            .and_then(|json| std::fs::write(&partial, json))
            .and_then(|()| std::fs::rename(&partial, cache.join(INDEX)));
        if let Err(error) = written {
            tracing::debug!(%error, "the record of verified files could not be saved");
            let _ = std::fs::remove_file(&partial);
        }
    }

    fn known(&self) -> MutexGuard<'_, FileStates> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "beside times that the file system writes")]
    fn now() -> Timestamp {
        let since = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap();
        Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap())
    }

    fn cache() -> (tempfile::TempDir, PathBuf) {
        let cache = tempfile::tempdir().unwrap();
        for dir in [files_dir(cache.path()), partial_dir(cache.path())] {
            std::fs::create_dir_all(dir).unwrap();
        }
        let file = files_dir(cache.path()).join("f");
        std::fs::write(&file, b"content").unwrap();
        (cache, file)
    }

    /// Returns `true` if another process would treat the file as verified at `now`.
    fn known_to_others(cache: &Path, file: &Path, now: Timestamp) -> bool {
        let other = VerifiedFiles::default();
        other.load(cache);
        other.knows(file, State::of(file).unwrap(), now)
    }

    #[test]
    fn what_one_process_verified_the_next_believes_for_a_day() {
        let (cache, file) = cache();
        let later = now().plus_millis(5_000);
        let verified = VerifiedFiles::default();
        verified.load(cache.path());
        verified.remember(file.clone(), State::of(&file).unwrap(), later);
        assert!(!known_to_others(cache.path(), &file, later), "not saved yet");
        verified.save(cache.path());
        assert!(known_to_others(cache.path(), &file, later));
        assert!(
            !known_to_others(cache.path(), &file, later.plus_millis(-1)),
            "from the future"
        );
        assert!(!known_to_others(cache.path(), &file, later.plus_millis(24 * 3_600_000)));
        std::fs::write(&file, b"CONTENT").unwrap();
        assert!(!known_to_others(cache.path(), &file, later), "written since");
        std::fs::write(cache.path().join(INDEX), b"{\"f\":").unwrap();
        assert!(!known_to_others(cache.path(), &file, later), "a torn index");
    }

    #[test]
    fn a_file_written_a_moment_ago_is_not_believed_by_others() {
        let (cache, file) = cache();
        let state = State::of(&file).unwrap();
        let verified = VerifiedFiles::default();
        verified.load(cache.path());
        let written = Timestamp::from_micros(state.modified / 1000);
        verified.remember(file.clone(), state, written.plus_millis(10));
        verified.save(cache.path());
        assert!(verified.knows(&file, state, written), "this process hashed it");
        assert!(!known_to_others(cache.path(), &file, written.plus_millis(10)));
    }
}
