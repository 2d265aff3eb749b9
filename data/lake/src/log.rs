//! Whether the tables' logs have what the last tick that ended names. A log that lost its newest entry reads like one that
//! never had it, and the next commit would take its place.

use bytes::Bytes;
use data_storage::{ObjectPath, Storage, StorageError, get_bytes};
use futures::TryStreamExt;
use futures::future::try_join_all;
use object_store::ObjectStore;
use serde::Deserialize;

use crate::delta::{APP_ID, TICK_KEY};
use crate::{Lake, LakeError, TableName};

/// As much of a line of a log as tells whose entry it is part of.
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

impl Lake {
    /// Looks at the entry of each table's log that the end of this tick names.
    ///
    /// # Errors
    /// One is missing, empty or cut short, or the storage fails.
    pub(crate) async fn check_logs(&self, ended: u64) -> Result<(), LakeError> {
        let end = match self.inner.ticks.end(ended).await {
            Ok(Some(end)) => end,
            // Before the first tick; or who reads by a damaged end is told, and who writes leaves it behind.
            Ok(None) | Err(LakeError::TickRecord { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        let versions = |table: TableName| Some((table, *end.versions.get(table.as_str())?));
        let checks = TableName::ALL.into_iter().filter_map(versions);
        let checks = checks.map(|(table, version)| check(&self.inner.storage, table, version));
        try_join_all(checks).await.map(drop)
    }
}

async fn check(lake: &Storage, table: TableName, version: u64) -> Result<(), LakeError> {
    let path = ObjectPath::from(format!("{table}/_delta_log/{version:020}.json"));
    let fault = match get_bytes(lake, &path).await? {
        Some(bytes) if bytes.is_empty() => "empty",
        Some(bytes) if !is_whole(&bytes) => "cut short or damaged",
        Some(_) => return Ok(()),
        // Whoever cleans a log leaves a checkpoint that has what went.
        None if has_checkpoint(lake, table, version).await? => return Ok(()),
        None => "missing",
    };
    Err(LakeError::Log {
        path: path.to_string(),
        fault,
    })
}

/// Whether this is all of an entry. One of this lake begins with the tick's number and ends with its mark; of one of
/// another writer nothing is known but that it is JSON, one document a line.
fn is_whole(entry: &Bytes) -> bool {
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

/// Whether a checkpoint holds this version or a later one.
async fn has_checkpoint(lake: &Storage, table: TableName, version: u64) -> Result<bool, LakeError> {
    let log = ObjectPath::from(format!("{table}/_delta_log"));
    let mut listed = lake.store().list(Some(&log));
    let failed = |source| StorageError::List {
        prefix: log.to_string(),
        source,
    };
    while let Some(meta) = listed.try_next().await.map_err(failed)? {
        let name = meta.location.filename().and_then(|name| name.split_once('.'));
        let number = name.filter(|(_, kind)| kind.starts_with("checkpoint"));
        if number.is_some_and(|(number, _)| number.parse().is_ok_and(|number: u64| number >= version)) {
            return Ok(true);
        }
    }
    Ok(false)
}
