//! Copies of what a tick committed to the tables' logs, kept beside its record: an entry that is lost later is written
//! again from there, byte for byte.

use std::collections::BTreeMap;

use data_storage::{ObjectPath, Storage, StorageError, get_bytes, put_over};
use futures::TryStreamExt;
use object_store::ObjectStore;
use serde::{Deserialize, Serialize};

use crate::delta::Table;
use crate::lake::State;
use crate::tick::TickEnd;
use crate::{Lake, LakeError, TableName};

/// What a tick keeps copies of.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Copies {
    pub(crate) end: TickEnd,
    pub(crate) entries: Vec<CopiedEntry>,
}

/// An entry of a table's log.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CopiedEntry {
    pub(crate) table: String,
    pub(crate) version: u64,
    /// Its lines, as they were committed.
    pub(crate) text: String,
}

/// How much of a tick is copied: that of a first crawl of a hundred thousand stores is below it.
const COPIED_BYTES_MAX: usize = 16 << 20;

/// How many entries of one table a tick copies: its own, and those of other writers since the tick before.
const COPIED_ENTRIES_MAX: u64 = 32;

impl Lake {
    /// Keeps copies of the entries that the tables' logs got since the end of the tick before.
    pub(crate) async fn keep_copies(
        &self,
        state: &mut State,
        end: &TickEnd,
        tables: &mut BTreeMap<TableName, Table>,
    ) -> Result<(), LakeError> {
        if state.copied.is_empty() && end.tick > 1 {
            let before = self.inner.ticks.end(end.tick - 1).await?;
            let before = before.map(|end| end.versions).unwrap_or_default();
            let known = TableName::ALL.map(|table| Some((table, *before.get(table.as_str())?)));
            state.copied.extend(known.into_iter().flatten());
        }
        let (mut entries, mut room) = (Vec::new(), COPIED_BYTES_MAX);
        for table in tables.values_mut() {
            let newest = table.version();
            let first = state.copied.get(&table.name).map_or(0, |last| last + 1);
            let first = first.max((newest + 1).saturating_sub(COPIED_ENTRIES_MAX));
            for version in first..=newest {
                let bytes = match table.landed.remove(&version) {
                    Some(bytes) => Some(bytes),
                    None => get_bytes(&table.storage, &entry_path(version)).await?,
                };
                let text = bytes.and_then(|bytes| String::from_utf8(bytes.to_vec()).ok());
                let Some(text) = text.filter(|text| text.len() <= room) else {
                    tracing::warn!(table = %table.name, version, "no copy of an entry of the log is kept");
                    continue;
                };
                room -= text.len();
                let table = table.name.to_string();
                entries.push(CopiedEntry { table, version, text });
            }
            table.landed.clear();
            state.copied.insert(table.name, newest);
        }
        let end = end.clone();
        write(self.inner.ticks.storage(), &Copies { end, entries }).await
    }
}

/// The entry of a version, in its table's folder.
pub(crate) fn entry_path(version: u64) -> ObjectPath {
    ObjectPath::from(format!("_delta_log/{version:020}.json"))
}

const SUFFIX: &str = ".copies.json";

async fn write(ticks: &Storage, copies: &Copies) -> Result<(), LakeError> {
    let path = format!("{:020}{SUFFIX}", copies.end.tick);
    let bytes = serde_json::to_vec(copies).map_err(|source| LakeError::TickRecord {
        path: format!("_ticks/{path}"),
        source,
    })?;
    Ok(put_over(ticks, &ObjectPath::from(path), bytes).await?)
}

/// The copies that are kept, those of the newest tick first; damaged ones are left out.
pub(crate) async fn kept(ticks: &Storage) -> Result<Vec<ObjectPath>, LakeError> {
    let listed = ticks.store().list(None).map_ok(|meta| meta.location);
    let listed: Result<Vec<ObjectPath>, _> = listed.try_collect().await;
    let mut paths = listed.map_err(|source| StorageError::List {
        prefix: "_ticks".to_owned(),
        source,
    })?;
    paths.retain(|path| path.as_ref().ends_with(SUFFIX));
    paths.sort_unstable_by(|left, right| right.cmp(left));
    Ok(paths)
}

/// The copies at `path`; `None` where they are gone or damaged.
pub(crate) async fn read(ticks: &Storage, path: &ObjectPath) -> Result<Option<Copies>, LakeError> {
    let bytes = get_bytes(ticks, path).await?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}
