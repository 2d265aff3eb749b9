use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use data_index::Manifest;
use data_model::Timestamp;

use super::ReleaseStore;
use crate::error::ReleaseError;

pub(super) fn files_dir(cache: &Path) -> PathBuf {
    cache.join("files")
}

pub(super) fn partial_dir(cache: &Path) -> PathBuf {
    cache.join("partial")
}

pub(super) fn local(action: &'static str, path: &Path) -> impl Fn(std::io::Error) -> ReleaseError {
    let path = path.to_owned();
    move |source| ReleaseError::Local {
        action,
        path: path.clone(),
        source,
    }
}

impl ReleaseStore {
    /// Removes files from a cache that no manifest of `keep` needs and that are older than `min_age`, and leftovers of
    /// interrupted fetches. Returns the number of bytes freed. An open release stays readable.
    ///
    /// # Errors
    /// The cache cannot be listed.
    pub fn clean_cache(&self, cache: &Path, keep: &[&Manifest], min_age: Duration) -> Result<u64, ReleaseError> {
        let needed: BTreeSet<String> = keep
            .iter()
            .flat_map(|manifest| manifest.files())
            .map(|file| file.sha256.to_string())
            .collect();
        let mut freed = 0;
        for dir in [files_dir(cache), partial_dir(cache)] {
            let items = match std::fs::read_dir(&dir) {
                Ok(items) => items,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(local("list", &dir)(error)),
            };
            for item in items.flatten() {
                let name = item.file_name();
                let Ok(metadata) = item.metadata() else { continue };
                let old = metadata.modified().is_ok_and(|modified| self.age(modified) >= min_age);
                let unneeded = !name.to_str().is_some_and(|name| needed.contains(name));
                // Another process may have removed the file first.
                if old && unneeded && std::fs::remove_file(item.path()).is_ok() {
                    freed += metadata.len();
                }
            }
        }
        Ok(freed)
    }

    fn age(&self, modified: SystemTime) -> Duration {
        let since_epoch = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let modified = Timestamp::from_micros(i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX));
        age(modified, self.clock.now())
    }
}

/// Returns zero if `from` is in the future.
pub(super) fn age(from: Timestamp, now: Timestamp) -> Duration {
    Duration::from_millis(u64::try_from(now.millis_since(from)).unwrap_or(0))
}
