//! Copies of what a tick committed to the tables' logs, kept beside its record: an entry that is lost later is written
//! again from there, byte for byte.

use std::collections::{BTreeMap, BTreeSet};

use data_storage::{ObjectPath, Storage, StorageError, get_bytes, put_over};
use futures::{StreamExt, TryStreamExt};
use object_store::ObjectStore;
use serde::{Deserialize, Serialize};

use crate::delta::Table;
use crate::files::digest;
use crate::lake::State;
use crate::log::{READS_AT_ONCE, tick_of};
use crate::tick::TickEnd;
use crate::{Lake, LakeError, TableName};

/// The copies that a tick keeps.
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
    /// The SHA-256 of all of this, so that of an entry and a copy that differ it is known which one was altered. Absent in
    /// copies of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sha256: Option<String>,
}

impl CopiedEntry {
    fn new(table: TableName, version: u64, text: String) -> Self {
        let mut copy = Self {
            table: table.to_string(),
            version,
            text,
            sha256: None,
        };
        copy.sha256 = Some(copy.hash());
        copy
    }

    fn hash(&self) -> String {
        let Self {
            table, version, text, ..
        } = self;
        digest(format!("{table}\n{version}\n{text}").as_bytes())
    }

    /// `true` where the entry is as it was committed, as far as its hash can tell.
    fn is_as_committed(&self) -> bool {
        self.sha256.as_ref().is_some_and(|hash| *hash == self.hash())
    }

    /// `true` where the copy itself was altered.
    pub(crate) fn is_damaged(&self) -> bool {
        self.sha256.is_some() && !self.is_as_committed()
    }

    pub(crate) fn place(&self) -> Option<(TableName, u64)> {
        let table = TableName::ALL.into_iter().find(|table| table.as_str() == self.table)?;
        Some((table, self.version))
    }
}

/// The most bytes of one tick that are copied: a first crawl of a hundred thousand stores is below it.
const COPIED_BYTES_MAX: usize = 16 << 20;

/// The most entries of one table that a tick copies: its own, and those of other writers since the tick before.
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
                entries.push(CopiedEntry::new(table.name, version, text));
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

/// Entries of the tables' logs that are there and are not what was committed. Damage of this kind leaves an entry that can
/// be read; only its copy tells that it says something else.
pub(crate) async fn altered(lake: &Storage) -> Result<BTreeSet<(TableName, u64)>, LakeError> {
    let ticks = lake.child("_ticks");
    let (mut seen, mut altered) = (BTreeSet::new(), BTreeSet::new());
    for path in kept(&ticks).await? {
        let Some(copies) = read(&ticks, &path).await? else {
            continue;
        };
        // The newest copy counts: a version that was lost may have been committed anew.
        let sound = copies.entries.into_iter().filter(CopiedEntry::is_as_committed);
        let placed = sound.filter_map(|copy| Some((copy.place()?, copy.text)));
        let new: Vec<_> = placed.filter(|(place, _)| seen.insert(*place)).collect();
        let mut compared = futures::stream::iter(new)
            .map(|(place, text)| compared(lake, place, text))
            .buffered(READS_AT_ONCE);
        while let Some(place) = compared.try_next().await? {
            altered.extend(place);
        }
    }
    Ok(altered)
}

/// The place of an entry that says something else than its copy, though both are of the same tick: an entry of another tick
/// took the place of one that was lost, and is no damage.
async fn compared(
    lake: &Storage,
    place: (TableName, u64),
    text: String,
) -> Result<Option<(TableName, u64)>, LakeError> {
    let (table, version) = place;
    let entry = get_bytes(&lake.child(table.as_str()), &entry_path(version)).await?;
    let is_altered = entry.is_some_and(|entry| entry != text.as_bytes() && tick_of(&entry) == tick_of(text.as_bytes()));
    Ok(is_altered.then_some(place))
}
