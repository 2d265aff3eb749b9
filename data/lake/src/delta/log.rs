//! Checks that the tables' logs are complete. A missing or empty entry looks like one that changed nothing, so that
//! rows would vanish without an error. If the newest entry is missing, the next commit would take its version.

use std::collections::BTreeSet;

use bytes::Bytes;
use data_storage::{ObjectPath, Storage, StorageError, get_bytes};
use futures::{StreamExt, TryStreamExt};
use object_store::ObjectStore;
use serde::Deserialize;

use super::checkpoint::is_usable;
use crate::{LakeError, TableName};

/// Application id under which commit batch numbers are recorded in the tables' logs.
pub(crate) const APP_ID: &str = "haat";

pub(crate) const TICK_KEY: &str = "haatTick";

/// The fields of a log line that identify its commit batch.
#[derive(Debug, Deserialize)]
struct Line {
    #[serde(rename = "commitInfo")]
    info: Option<serde_json::Map<String, serde_json::Value>>,
    txn: Option<Txn>,
}

#[derive(Debug, Deserialize)]
struct Txn {
    #[serde(rename = "appId")]
    app_id: String,
}

pub(crate) const READS_AT_ONCE: usize = 8;

/// Maximum number of listings of a log folder before a gap in it is treated as real.
const LISTS_MAX: usize = 3;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Log<'a> {
    pub(crate) lake: &'a Storage,
    pub(crate) table: TableName,
    /// Version of the table in the end record of the last commit batch.
    pub(crate) named: Option<u64>,
    /// Version up to which the log was already found intact.
    pub(crate) checked: Option<u64>,
}

#[derive(Debug, Default)]
struct LogFolder {
    entries: BTreeSet<u64>,
    checkpoint: Option<u64>,
}

impl Log<'_> {
    /// Returns the newest version, after checking that everything it depends on is intact.
    ///
    /// # Errors
    /// An entry is missing, empty or truncated, or the storage fails.
    pub(crate) async fn check(&self) -> Result<Option<u64>, LakeError> {
        let mut lists = 1;
        loop {
            match self.check_once().await {
                // While the folder was listed, an entry may have been written, or removed after a new checkpoint.
                Err(LakeError::Log { fault: MISSING, .. }) if lists < LISTS_MAX => lists += 1,
                checked => return checked,
            }
        }
    }

    async fn check_once(&self) -> Result<Option<u64>, LakeError> {
        let listed = self.list().await?;
        let newest = listed.entries.last().copied().max(self.named).max(self.checked);
        // A checkpoint contains everything before it, and a log clean-up always leaves one.
        let first = listed.checkpoint.max(self.checked).map_or(0, |last| last + 1);
        let Some(last) = newest.filter(|newest| *newest >= first) else {
            return Ok(newest.max(listed.checkpoint));
        };
        if let Some(version) = (first..=last).find(|version| !listed.entries.contains(version)) {
            return Err(self.fault(version, MISSING));
        }
        let reads = futures::stream::iter((first..=last).map(|version| self.check_entry(version)));
        reads.buffered(READS_AT_ONCE).try_collect::<()>().await?;
        Ok(Some(last))
    }

    async fn check_entry(&self, version: u64) -> Result<(), LakeError> {
        match get_bytes(self.lake, &self.path(version)).await? {
            None => Err(self.fault(version, MISSING)),
            Some(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => Err(self.fault(version, "empty")),
            Some(bytes) if !is_whole(&bytes) => Err(self.fault(version, "truncated or damaged")),
            Some(_) => Ok(()),
        }
    }

    async fn list(&self) -> Result<LogFolder, LakeError> {
        let folder = ObjectPath::from(format!("{}/_delta_log", self.table));
        let mut objects = match self.checked {
            Some(checked) => self.lake.store().list_with_offset(Some(&folder), &self.path(checked)),
            None => self.lake.store().list(Some(&folder)),
        };
        let failed = |source| StorageError::List {
            prefix: folder.to_string(),
            source,
        };
        let mut listed = LogFolder::default();
        while let Some(meta) = objects.try_next().await.map_err(failed)? {
            let name = meta.location.filename().and_then(|name| name.split_once('.'));
            let Some((Ok(version), kind)) = name.map(|(number, kind)| (number.parse::<u64>(), kind)) else {
                continue;
            };
            if kind == "json" {
                listed.entries.insert(version);
            } else if kind.starts_with("checkpoint") {
                listed.checkpoint = listed.checkpoint.max(Some(version));
            }
        }
        Ok(listed)
    }

    fn path(&self, version: u64) -> ObjectPath {
        ObjectPath::from(format!("{}/_delta_log/{version:020}.json", self.table))
    }

    fn fault(&self, version: u64, fault: &'static str) -> LakeError {
        LakeError::Log {
            path: self.path(version).to_string(),
            fault,
        }
    }
}

const MISSING: &str = "missing";

/// Returns the first missing log entry that `version` depends on. `table` is the table's folder.
pub(crate) async fn first_gap(table: &Storage, version: u64) -> Result<Option<u64>, LakeError> {
    let folder = ObjectPath::from("_delta_log");
    let listed = table.store().list(Some(&folder)).map_ok(|meta| meta.location);
    let listed: Vec<ObjectPath> = listed.try_collect().await.map_err(|source| StorageError::List {
        prefix: folder.to_string(),
        source,
    })?;
    let (mut entries, mut checkpoint) = (BTreeSet::new(), None);
    for (number, kind) in listed.iter().filter_map(|path| path.filename()?.split_once('.')) {
        let Ok(number) = number.parse::<u64>() else { continue };
        if kind == "json" {
            entries.insert(number);
        } else if kind.starts_with("checkpoint") && number <= version {
            checkpoint = checkpoint.max(Some(number));
        }
    }
    let first = checkpoint.map_or(0, |checkpoint| checkpoint + 1);
    Ok((first..=version).find(|number| !entries.contains(number)))
}

/// Returns the error for a table that cannot be opened because a checkpoint is missing or damaged.
pub(crate) async fn missing_checkpoint(lake: &Storage, table: TableName) -> Option<LakeError> {
    let folder = ObjectPath::from(format!("{table}/_delta_log"));
    let fault = |path: &ObjectPath, fault: &'static str| {
        let path = path.to_string();
        Some(LakeError::Log { path, fault })
    };
    let hint = ObjectPath::from(format!("{folder}/_last_checkpoint"));
    if let Some(bytes) = get_bytes(lake, &hint).await.ok()? {
        let Ok(LastCheckpoint { version }) = serde_json::from_slice(&bytes) else {
            return fault(&hint, DAMAGED);
        };
        let listed = lake.store().list(Some(&folder)).map_ok(|meta| meta.location);
        let listed: Vec<ObjectPath> = listed.try_collect().await.ok()?;
        let name = format!("{version:020}.checkpoint");
        if !listed
            .iter()
            .any(|path| path.filename().is_some_and(|file| file.starts_with(&name)))
        {
            return fault(&ObjectPath::from(format!("{folder}/{name}.parquet")), MISSING);
        }
    }
    let mut listed = lake.store().list(Some(&folder));
    while let Some(meta) = listed.try_next().await.ok()? {
        let is_checkpoint = |name: &str| name.contains(".checkpoint") && name.ends_with(".parquet");
        if meta.location.filename().is_some_and(is_checkpoint)
            && !is_usable(get_bytes(lake, &meta.location).await.ok()?)
        {
            return fault(&meta.location, DAMAGED);
        }
    }
    None
}

/// The log's `_last_checkpoint` file, which names its newest checkpoint.
#[derive(Debug, Deserialize)]
pub(crate) struct LastCheckpoint {
    pub(crate) version: u64,
}

const DAMAGED: &str = "damaged";

/// Returns `true` if the entry is complete. An entry of this lake begins with its commit batch number and ends with its
/// end marker. An entry of another writer must only be JSON, one document per line.
pub(crate) fn is_whole(entry: &Bytes) -> bool {
    let (mut begins, mut ends) = (false, false);
    for line in entry.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let Ok(line) = serde_json::from_slice::<Line>(line) else {
            return false;
        };
        begins |= line.info.is_some_and(|info| info.contains_key(TICK_KEY));
        ends |= line.txn.is_some_and(|txn| txn.app_id == APP_ID);
    }
    begins == ends
}

/// Returns `None` for an entry of another writer.
pub(crate) fn tick_of(entry: &[u8]) -> Option<serde_json::Value> {
    let lines = entry.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let mut lines = lines.filter_map(|line| serde_json::from_slice::<Line>(line).ok());
    lines.find_map(|line| line.info?.remove(TICK_KEY))
}
