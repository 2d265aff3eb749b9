//! Checks that the tables' logs are complete. A missing or empty entry looks like one that changed nothing, so that
//! rows would vanish without an error. If the newest entry is missing, the next commit would take its version.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use data_storage::{ObjectPath, Storage, get_bytes, list_after, list_all};
use futures::{StreamExt, TryStreamExt};
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

/// Objects in the folder of a table's log, by version.
#[derive(Debug, Default)]
pub(crate) struct LogFolder {
    pub(crate) entries: BTreeSet<u64>,
    pub(crate) checkpoints: BTreeMap<u64, Vec<ObjectPath>>,
}

impl LogFolder {
    /// Lists a folder, or the objects after a path in it.
    pub(crate) async fn list(
        storage: &Storage,
        folder: &ObjectPath,
        after: Option<&ObjectPath>,
    ) -> Result<Self, LakeError> {
        let objects = match after {
            Some(after) => list_after(storage, Some(folder), after).await?,
            None => list_all(storage, Some(folder)).await?,
        };
        let mut listed = Self::default();
        for path in objects.into_iter().map(|meta| meta.location) {
            let name = path.filename().and_then(|name| name.split_once('.'));
            let Some((Ok(version), kind)) = name.map(|(number, kind)| (number.parse::<u64>(), kind)) else {
                continue;
            };
            if kind == "json" {
                listed.entries.insert(version);
            } else if kind.starts_with("checkpoint") {
                listed.checkpoints.entry(version).or_default().push(path);
            }
        }
        Ok(listed)
    }
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
        let after = self.checked.map(|checked| self.path(checked));
        let listed = LogFolder::list(self.lake, &folder_of(self.table), after.as_ref()).await?;
        let checkpoint = listed.checkpoints.last_key_value().map(|(version, _)| *version);
        let newest = listed.entries.last().copied().max(self.named).max(self.checked);
        // A checkpoint contains everything before it, and a log clean-up always leaves one.
        let first = checkpoint.max(self.checked).map_or(0, |last| last + 1);
        let Some(last) = newest.filter(|newest| *newest >= first) else {
            return Ok(newest.max(checkpoint));
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

    fn path(&self, version: u64) -> ObjectPath {
        ObjectPath::from(format!("{}/{version:020}.json", folder_of(self.table)))
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
    let listed = LogFolder::list(table, &ObjectPath::from("_delta_log"), None).await?;
    let checkpoint = listed.checkpoints.range(..=version).next_back();
    let first = checkpoint.map_or(0, |(checkpoint, _)| checkpoint + 1);
    Ok((first..=version).find(|number| !listed.entries.contains(number)))
}

pub(crate) fn folder_of(table: TableName) -> ObjectPath {
    ObjectPath::from(format!("{table}/_delta_log"))
}

/// Returns the error for a table that cannot be opened because a checkpoint is missing or damaged.
pub(crate) async fn missing_checkpoint(lake: &Storage, table: TableName) -> Option<LakeError> {
    let folder = folder_of(table);
    let fault = |path: &ObjectPath, fault: &'static str| {
        let path = path.to_string();
        Some(LakeError::Log { path, fault })
    };
    let checkpoints = LogFolder::list(lake, &folder, None).await.ok()?.checkpoints;
    let hint = ObjectPath::from(format!("{folder}/_last_checkpoint"));
    if let Some(bytes) = get_bytes(lake, &hint).await.ok()? {
        let Ok(LastCheckpoint { version }) = serde_json::from_slice(&bytes) else {
            return fault(&hint, DAMAGED);
        };
        if !checkpoints.contains_key(&version) {
            let name = format!("{folder}/{version:020}.checkpoint.parquet");
            return fault(&ObjectPath::from(name), MISSING);
        }
    }
    for path in checkpoints.values().flatten() {
        if path.as_ref().ends_with(".parquet") && !is_usable(get_bytes(lake, path).await.ok()?) {
            return fault(path, DAMAGED);
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
