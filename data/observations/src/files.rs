//! Lists, reads and removes the observation files in storage, for the lake's committer.

use std::collections::{BTreeMap, BTreeSet};

use async_recursion::async_recursion as boxed;
use data_model::Observation;
use data_storage::{ObjectPath, ObjectStoreExt, Storage, StorageError, list_all};
use futures::StreamExt;

use crate::error::{Fault, ObservationsError};
use crate::format::{PACKED_BYTES_MAX, unpack};

pub(crate) const PREFIX: &str = "observations";
const EXTENSION: &str = ".jsonl.zst";
/// Numbers of digits of the timestamp and of the UUID in a file name.
const MICROS_DIGITS: usize = 20;
const UUID_DIGITS: usize = 32;

/// An observation file as listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservationFile {
    path: ObjectPath,
    bytes: u64,
}

impl ObservationFile {
    /// Returns the path below `observations`, which also identifies the file in messages.
    #[must_use]
    pub fn path(&self) -> &str {
        self.path.as_ref()
    }

    /// Returns the compressed size in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Returns the path of a file below `observations`: `2026-11-23/{microseconds}-{uuid}.jsonl.zst`. Names sort by time.
pub(crate) fn path_at(now: data_model::Timestamp, uuid: uuid::Uuid) -> ObjectPath {
    let day: String = now.to_string().chars().take(10).collect();
    let micros = now.micros().max(0);
    ObjectPath::from_iter([
        day.as_str(),
        &format!("{micros:0width$}-{}{EXTENSION}", uuid.simple(), width = MICROS_DIGITS),
    ])
}

fn is_name(name: &str) -> bool {
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts = name.strip_suffix(EXTENSION).and_then(|name| name.split_once('-'));
    parts.is_some_and(|(micros, uuid)| digits(micros, MICROS_DIGITS) && digits(uuid, UUID_DIGITS))
}

/// Returns the oldest `files_max` files that satisfy `is_wanted`, oldest first. Objects with other names are ignored.
///
/// # Errors
/// The storage failed.
pub async fn list(
    storage: &Storage,
    files_max: usize,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Vec<ObservationFile>, ObservationsError> {
    let mut oldest: BTreeMap<String, ObservationFile> = BTreeMap::new();
    for meta in list_all(&storage.child(PREFIX), None).await? {
        let Some(name) = meta.location.filename().filter(|name| is_name(name)) else {
            tracing::debug!(path = %meta.location, "an object in the observations folder is not a file of observations");
            continue;
        };
        if !is_wanted(meta.location.as_ref()) {
            continue;
        }
        let file = ObservationFile {
            bytes: meta.size,
            path: meta.location.clone(),
        };
        oldest.insert(name.to_owned(), file);
        if oldest.len() > files_max {
            oldest.pop_last();
        }
    }
    Ok(oldest.into_values().collect())
}

/// Reads the observations of a file, or returns `None` if it was removed since it was listed.
///
/// # Errors
/// [`ObservationsError::Damaged`] if the file is not as a recorder writes it, or the storage failed.
#[boxed]
pub async fn read(storage: &Storage, file: &ObservationFile) -> Result<Option<Vec<Observation>>, ObservationsError> {
    let failed = |source| StorageError::Read {
        path: format!("{PREFIX}/{}", file.path),
        source,
    };
    let damaged = |fault| ObservationsError::Damaged {
        path: file.path.to_string(),
        fault,
    };
    let answer = match storage.child(PREFIX).store().get(&file.path).await {
        Ok(answer) => answer,
        Err(object_store::Error::NotFound { .. }) => return Ok(None),
        Err(source) => return Err(failed(source).into()),
    };
    if answer.meta.size > PACKED_BYTES_MAX {
        let bytes_max = PACKED_BYTES_MAX;
        return Err(damaged(Fault::TooLarge { bytes_max }));
    }
    let bytes = answer.bytes().await.map_err(failed)?;
    let unpacked = tokio::task::spawn_blocking(move || unpack(&bytes)).await;
    // The content of the file is unknown, so that the whole file is treated as damaged.
    let observations = unpacked.unwrap_or(Err(Fault::Packing)).map_err(damaged)?;
    Ok(Some(observations))
}

/// Removes files that were merged into the lake. A missing file is not an error.
///
/// # Errors
/// The storage failed. Some files may have been removed.
#[boxed]
pub async fn remove(storage: &Storage, files: &[ObservationFile]) -> Result<(), ObservationsError> {
    let storage = storage.child(PREFIX);
    let paths: Vec<_> = files.iter().map(|file| Ok(file.path.clone())).collect();
    let days: BTreeSet<ObjectPath> = files.iter().filter_map(|file| day(&file.path)).collect();
    let mut deleted = storage.store().delete_stream(futures::stream::iter(paths).boxed());
    while let Some(one) = deleted.next().await {
        match one {
            Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
            Err(source) => {
                let path = PREFIX.to_owned();
                return Err(StorageError::Write { path, source }.into());
            }
        }
    }
    drop(deleted);
    days.iter().for_each(|day| storage.remove_empty_folder(day));
    Ok(())
}

fn day(path: &ObjectPath) -> Option<ObjectPath> {
    path.as_ref().split_once('/').map(|(day, _)| ObjectPath::from(day))
}
