use std::collections::BTreeMap;

use data_storage::{ObjectPath, ObjectStore, ObjectStoreExt, Storage, StorageError, get_bytes};
use futures::TryStreamExt;

use crate::counts::{KEPT_MAX, WordCount};

/// Folder of the counts.
pub(crate) const PREFIX: &str = "searches";
/// Maximum size of an object that is read, in bytes.
const BYTES_MAX: u64 = 4 << 20;

/// Counts could not be listed, read or removed.
#[derive(Debug, thiserror::Error)]
#[error("counts of searched words cannot be read or removed")]
pub struct SearchesError(#[from] StorageError);

/// Returns the path of a server's counts of a day.
pub(crate) fn counts_at(day: &str, server: &str) -> ObjectPath {
    ObjectPath::from_iter([PREFIX, day, &format!("{server}.json")])
}

/// Returns the day in an object's path.
fn day_in(path: &ObjectPath) -> Option<String> {
    let day = path
        .as_ref()
        .strip_prefix(PREFIX)?
        .strip_prefix('/')?
        .split('/')
        .next()?;
    (day.len() == 10).then(|| day.to_owned())
}

/// Returns the word counts over all servers by day, from the day `since` on (such as `2026-11-29`). Unreadable objects
/// are skipped.
///
/// # Errors
/// The storage failed.
pub async fn load(storage: &Storage, since: &str) -> Result<BTreeMap<String, Vec<WordCount>>, SearchesError> {
    let mut days: BTreeMap<String, BTreeMap<String, WordCount>> = BTreeMap::new();
    for (day, path, bytes) in listed(storage).await? {
        if day.as_str() < since || bytes > BYTES_MAX {
            continue;
        }
        let json = get_bytes(storage, &path).await?;
        let counts: Option<Vec<WordCount>> = json.and_then(|json| serde_json::from_slice(&json).ok());
        let words = days.entry(day).or_default();
        for one in counts.into_iter().flatten().take(KEPT_MAX) {
            match words.get_mut(&one.words) {
                Some(known) => known.add(&one),
                None => drop(words.insert(one.words.clone(), one)),
            }
        }
    }
    let sorted = days
        .into_iter()
        .map(|(day, words)| (day, words.into_values().collect()));
    Ok(sorted.collect())
}

/// Removes the counts of days before `day`.
///
/// # Errors
/// The storage failed; some counts may have been removed.
pub(crate) async fn forget_before(storage: &Storage, day: &str) -> Result<(), SearchesError> {
    for (of, path, _) in listed(storage).await? {
        if of.as_str() >= day {
            continue;
        }
        match storage.store().delete(&path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
            Err(source) => {
                let path = path.to_string();
                return Err(StorageError::Write { path, source }.into());
            }
        }
        storage.remove_empty_folder(&ObjectPath::from_iter([PREFIX, &of]));
    }
    Ok(())
}

async fn listed(storage: &Storage) -> Result<Vec<(String, ObjectPath, u64)>, StorageError> {
    let failed = |source| StorageError::List {
        prefix: PREFIX.to_owned(),
        source,
    };
    let objects = storage.store().list(Some(&ObjectPath::from(PREFIX)));
    let objects: Vec<_> = objects.try_collect().await.map_err(failed)?;
    let found = objects.into_iter().filter_map(|meta| {
        let day = day_in(&meta.location)?;
        Some((day, meta.location, meta.size))
    });
    Ok(found.collect())
}
