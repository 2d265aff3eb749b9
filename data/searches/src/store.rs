use std::collections::BTreeSet;

use data_model::Day;
use data_storage::{ObjectPath, ObjectStoreExt, Storage, StorageError, delete, list_all};

use crate::counts::{CountedDays, KEPT_MAX, SEEN_MIN, WordCount};

const PREFIX: &str = "searches";
const EXTENSION: &str = ".json";
const BYTES_MAX: u64 = 4 << 20;

/// The counts could not be listed, read or removed.
#[derive(Debug, thiserror::Error)]
#[error("counts of searched words cannot be read or removed")]
pub struct SearchesError(#[from] StorageError);

/// Object with the counts of one server on one day, as listed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CountsFile {
    /// Day of the counts, such as `2026-11-29`.
    pub day: String,
    /// Random name of the server that counted.
    pub server: String,
    bytes: u64,
}

impl CountsFile {
    fn path(&self) -> ObjectPath {
        counts_at(&self.day, &self.server)
    }

    /// Returns `None` if no server wrote the object.
    fn of(meta: &object_store::ObjectMeta) -> Option<Self> {
        let path = meta.location.as_ref().strip_prefix(PREFIX)?.strip_prefix('/')?;
        let (day, name) = path.split_once('/')?;
        let server = name.strip_suffix(EXTENSION).filter(|server| !server.contains('/'))?;
        day.parse::<Day>().ok()?;
        Some(Self {
            day: day.to_owned(),
            server: server.to_owned(),
            bytes: meta.size,
        })
    }
}

/// Counts of one server on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerCounts {
    /// Object that the counts were read from.
    pub file: CountsFile,
    /// Words that were searched often enough.
    pub words: Vec<WordCount>,
    tag: Option<String>,
}

pub(crate) fn counts_at(day: &str, server: &str) -> ObjectPath {
    ObjectPath::from_iter([PREFIX, day, &format!("{server}{EXTENSION}")])
}

/// Returns the objects of the days that satisfy `is_wanted`, oldest first. Objects with other names are ignored.
///
/// # Errors
/// The storage failed.
pub async fn list(storage: &Storage, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<CountsFile>, SearchesError> {
    let objects = list_all(storage, Some(&ObjectPath::from(PREFIX))).await?;
    let files = objects.iter().filter_map(CountsFile::of);
    let mut files: Vec<CountsFile> = files.filter(|file| is_wanted(&file.day)).collect();
    files.sort();
    Ok(files)
}

/// Reads the counts of a server on a day. Returns `None` if the object was removed since it was listed, or is damaged.
///
/// # Errors
/// The storage failed.
pub async fn read(storage: &Storage, file: CountsFile) -> Result<Option<ServerCounts>, SearchesError> {
    if file.bytes > BYTES_MAX {
        damaged(&file);
        return Ok(None);
    }
    let failed = |source| StorageError::Read {
        path: file.path().to_string(),
        source,
    };
    let answer = match storage.store().get(&file.path()).await {
        Ok(answer) => answer,
        Err(object_store::Error::NotFound { .. }) => return Ok(None),
        Err(source) => return Err(failed(source).into()),
    };
    let tag = answer.meta.e_tag.clone();
    let json = answer.bytes().await.map_err(failed)?;
    let Ok(mut words) = serde_json::from_slice::<Vec<WordCount>>(&json) else {
        damaged(&file);
        return Ok(None);
    };
    words.retain(|one| one.count >= SEEN_MIN);
    words.truncate(KEPT_MAX);
    Ok(Some(ServerCounts { file, words, tag }))
}

fn damaged(file: &CountsFile) {
    tracing::warn!(
        path = %file.path(),
        "an object is skipped and stays in place, because it does not contain counts of searched words"
    );
}

/// Returns the counts of all servers from the day `since` on (such as `2026-11-29`). Unreadable objects are skipped.
///
/// # Errors
/// The storage failed.
pub async fn load(storage: &Storage, since: &str) -> Result<CountedDays, SearchesError> {
    let mut days = CountedDays::new();
    for file in list(storage, |day| day >= since).await? {
        if let Some(ServerCounts { file, words, .. }) = read(storage, file).await? {
            days.entry(file.day).or_default().insert(file.server, words);
        }
    }
    Ok(days)
}

/// Removes counts that are in the lake. If the server wrote them again since they were read, they stay, and the next
/// commit replaces those of the lake.
///
/// # Errors
/// The storage failed. Some counts may have been removed.
pub async fn remove(storage: &Storage, stored: &[ServerCounts]) -> Result<(), SearchesError> {
    for counts in stored {
        let path = counts.file.path();
        match storage.store().head(&path).await {
            Ok(meta) if meta.e_tag == counts.tag => delete(storage, &path).await?,
            Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
            Err(source) => {
                let path = path.to_string();
                return Err(StorageError::Read { path, source }.into());
            }
        }
    }
    remove_empty_days(storage, stored.iter().map(|counts| &counts.file));
    Ok(())
}

/// Removes the counts of days before `day`.
///
/// # Errors
/// The storage failed. Some counts may have been removed.
pub(crate) async fn forget_before(storage: &Storage, day: &str) -> Result<(), SearchesError> {
    let files = list(storage, |of| of < day).await?;
    for file in &files {
        delete(storage, &file.path()).await?;
    }
    remove_empty_days(storage, files.iter());
    Ok(())
}

fn remove_empty_days<'a>(storage: &Storage, files: impl Iterator<Item = &'a CountsFile>) {
    let days: BTreeSet<&str> = files.map(|file| file.day.as_str()).collect();
    for day in days {
        storage.remove_empty_folder(&ObjectPath::from_iter([PREFIX, day]));
    }
}
