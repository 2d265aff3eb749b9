//! Missing or damaged parts of the tables' logs and of the ticks, and the copies that they are written again from.
//! Looking changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use data_storage::{ObjectPath, Storage, StorageError, get_bytes, keep_aside, put_over};
use futures::TryStreamExt;
use object_store::ObjectStore;

use crate::checkpoint::is_usable;
use crate::copies::{self, entry_path};
use crate::log::{LastCheckpoint, is_whole};
use crate::repair::{LogRepair, RepairKind, UnrepairableObject};
use crate::tick::{TickEnd, TickRecord};
use crate::{LakeError, TableName};

/// The repairs that are due before the lake can be opened.
#[derive(Debug, Default)]
pub(crate) struct LogRepairPlan {
    pub(crate) repaired: Vec<LogRepair>,
    pub(crate) stuck: Vec<UnrepairableObject>,
    /// Objects to be written, by their paths in the lake.
    puts: Vec<(ObjectPath, Bytes)>,
    /// Objects to be removed, by their paths in the lake.
    deletes: Vec<ObjectPath>,
    /// Tables whose newest state cannot be read even then.
    pub(crate) broken: BTreeSet<TableName>,
    /// Tables that the lake does not have yet.
    pub(crate) absent: BTreeSet<TableName>,
    /// Tables that are to get a checkpoint.
    pub(crate) checkpoints: BTreeSet<TableName>,
}

/// A table's log as it was found.
#[derive(Debug)]
struct Log {
    table: TableName,
    /// The entries that its newest state is made of, and the checkpoint before them.
    whole: Vec<(ObjectPath, Bytes)>,
    /// Versions whose entries are lost, and whether the newest state needs them.
    lost: BTreeMap<u64, bool>,
}

impl LogRepairPlan {
    /// Looks at the ticks and at every table's log. The parts of the newest state are put into `shadow`, repaired where
    /// it can be.
    pub(crate) async fn plan(lake: &Storage, shadow: &Storage) -> Result<Self, LakeError> {
        let mut plan = Self::default();
        let ticks = lake.child("_ticks");
        let named = plan.look_at_ticks(&ticks).await?;
        let altered = copies::altered(lake).await?;
        let mut logs = Vec::new();
        for table in TableName::ALL {
            logs.push(
                plan.look_at_log(lake, (table, named.get(table.as_str()).copied()), &altered)
                    .await?,
            );
        }
        let lost = logs
            .iter()
            .flat_map(|log| log.lost.keys().map(|version| (log.table, *version)));
        let mut copies = copied_entries(&ticks, lost.collect()).await?;
        for log in logs {
            for (path, bytes) in &log.whole {
                put_over(shadow, path, bytes.clone()).await?;
            }
            for (version, is_needed) in log.lost {
                let path = in_lake(log.table, &entry_path(version));
                match copies.remove(&(log.table, version)) {
                    Some(bytes) => {
                        if is_needed {
                            put_over(shadow, &path, bytes.clone()).await?;
                        }
                        plan.tell(&path, RepairKind::Entry);
                        plan.puts.push((path, bytes));
                    }
                    None if is_needed => {
                        plan.broken.insert(log.table);
                        plan.stuck.push(UnrepairableObject {
                            path: path.to_string(),
                            reason: "no copy of this entry of the log is kept: put it back from a copy of the lake, or go back to a backup",
                        });
                    }
                    None => plan.stuck.push(UnrepairableObject {
                        path: path.to_string(),
                        reason: "no copy of this entry of the log is kept: states of before it cannot be read; the present one can",
                    }),
                }
            }
        }
        Ok(plan)
    }

    /// Does the repairs. Damaged objects are kept under `damaged/` of the lake.
    pub(crate) async fn apply(&self, lake: &Storage) -> Result<(), LakeError> {
        for path in self.puts.iter().map(|(path, _)| path).chain(&self.deletes) {
            keep_aside(lake, path).await?;
        }
        for (path, bytes) in &self.puts {
            put_over(lake, path, bytes.clone()).await?;
        }
        for path in &self.deletes {
            match object_store::ObjectStoreExt::delete(lake.store().as_ref(), path).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(source) => {
                    let path = path.to_string();
                    return Err(StorageError::Write { path, source }.into());
                }
            }
        }
        Ok(())
    }

    fn tell(&mut self, path: &ObjectPath, how: RepairKind) {
        self.repaired.push(LogRepair {
            path: path.to_string(),
            how,
        });
    }

    fn remove(&mut self, path: ObjectPath, how: RepairKind) {
        self.tell(&path, how);
        self.deletes.push(path);
    }

    fn write_end(&mut self, path: &ObjectPath, end: &TickEnd) -> Result<(), LakeError> {
        let bytes = serde_json::to_vec(end).map_err(|source| LakeError::TickRecord {
            path: path.to_string(),
            source,
        })?;
        self.tell(path, RepairKind::End);
        self.puts.push((path.clone(), bytes.into()));
        Ok(())
    }

    /// The versions that the newest end names, of all that can be read or written again.
    async fn look_at_ticks(&mut self, ticks: &Storage) -> Result<BTreeMap<String, u64>, LakeError> {
        let (mut records, mut ends) = (BTreeSet::new(), BTreeSet::new());
        for path in list(ticks, None).await? {
            let Some((digits, kind)) = path.as_ref().split_once('.') else {
                continue;
            };
            let Ok(tick) = digits.parse::<u64>() else { continue };
            match kind {
                "json" => records.insert(tick),
                "done.json" => ends.insert(tick),
                _ => false,
            };
        }
        let last = ends.last().copied().unwrap_or(0);
        let first = ends.first().copied().unwrap_or(1);
        let (mut newest, mut lost) = (None, BTreeSet::new());
        for tick in first..=last {
            let bytes = get_bytes(ticks, &ObjectPath::from(format!("{tick:020}.done.json"))).await?;
            match bytes.and_then(|bytes| serde_json::from_slice::<TickEnd>(&bytes).ok()) {
                Some(end) => newest = Some(end),
                None => {
                    lost.insert(tick);
                }
            }
        }
        for tick in lost {
            let path = ObjectPath::from(format!("_ticks/{tick:020}.done.json"));
            let copied = copies::read(ticks, &ObjectPath::from(format!("{tick:020}.copies.json"))).await?;
            match copied {
                Some(copies) => {
                    self.write_end(&path, &copies.end)?;
                    if newest.as_ref().is_none_or(|newest| newest.tick < tick) {
                        newest = Some(copies.end);
                    }
                }
                // The next process that opens the lake ends it again, by what the tables have.
                None if tick == last => self.remove(path, RepairKind::End),
                None => self.stuck.push(UnrepairableObject {
                    path: path.to_string(),
                    reason: "no copy of the end of this tick is kept: the lake cannot be read as it was then; the present state can",
                }),
            }
        }
        for tick in records.range(last + 1..) {
            // It was in every table: the copies are written after the last of them.
            let copied = copies::read(ticks, &ObjectPath::from(format!("{tick:020}.copies.json"))).await?;
            if let Some(copies) = copied {
                let path = ObjectPath::from(format!("_ticks/{tick:020}.done.json"));
                self.write_end(&path, &copies.end)?;
                newest = Some(copies.end);
                continue;
            }
            let path = ObjectPath::from(format!("{tick:020}.json"));
            let bytes = get_bytes(ticks, &path).await?;
            if bytes.is_some_and(|bytes| serde_json::from_slice::<TickRecord>(&bytes).is_err()) {
                self.remove(ObjectPath::from(format!("_ticks/{path}")), RepairKind::Record);
            }
        }
        Ok(newest.map(|end| end.versions).unwrap_or_default())
    }

    async fn look_at_log(
        &mut self,
        lake: &Storage,
        (table, named): (TableName, Option<u64>),
        altered: &BTreeSet<(TableName, u64)>,
    ) -> Result<Log, LakeError> {
        let folder = ObjectPath::from(format!("{table}/_delta_log"));
        let (mut entries, mut checkpoints) = (BTreeSet::new(), BTreeMap::<u64, Vec<ObjectPath>>::new());
        for path in list(lake, Some(&folder)).await? {
            let name = path.filename().and_then(|name| name.split_once('.'));
            let Some((Ok(version), kind)) = name.map(|(number, kind)| (number.parse::<u64>(), kind.to_owned())) else {
                continue;
            };
            if kind == "json" {
                entries.insert(version);
            } else if kind.starts_with("checkpoint") {
                checkpoints.entry(version).or_default().push(path);
            }
        }
        let mut log = Log {
            table,
            whole: Vec::new(),
            lost: BTreeMap::new(),
        };
        let found = (&entries, &checkpoints);
        let (base, files) = self.base(lake, table, found, altered).await?;
        log.whole = files;
        self.look_at_hint(lake, &folder, (table, base)).await?;
        let first = base.map_or(0, |base| base + 1);
        let Some(newest) = entries.last().copied().max(named).max(base) else {
            // A lake of an earlier version gets it when it is opened.
            if TableName::LATER.contains(&table) && named.is_none() {
                self.absent.insert(table);
            } else {
                log.lost.insert(0, true);
            }
            return Ok(log);
        };
        let earliest = entries.first().copied().unwrap_or(first).min(first);
        for version in earliest..=newest {
            let path = in_lake(table, &entry_path(version));
            let bytes = if entries.contains(&version) {
                get_bytes(lake, &path).await?
            } else {
                None
            };
            let is_lost = |bytes: &Bytes| bytes.iter().all(u8::is_ascii_whitespace) || !is_whole(bytes);
            let is_altered = altered.contains(&(table, version));
            match bytes.filter(|bytes| !is_altered && !is_lost(bytes)) {
                Some(bytes) if version >= first => log.whole.push((path, bytes)),
                Some(_) => {}
                None => {
                    log.lost.insert(version, version >= first);
                }
            }
        }
        // All before it was cleaned away behind a checkpoint that is lost.
        if base.is_none() && earliest > 0 {
            log.lost.extend((0..earliest).map(|version| (version, true)));
        }
        Ok(log)
    }

    /// The newest checkpoint that can be trusted, with its files. Those after it go.
    async fn base(
        &mut self,
        lake: &Storage,
        table: TableName,
        (entries, checkpoints): (&BTreeSet<u64>, &BTreeMap<u64, Vec<ObjectPath>>),
        altered: &BTreeSet<(TableName, u64)>,
    ) -> Result<(Option<u64>, Vec<(ObjectPath, Bytes)>), LakeError> {
        for (version, paths) in checkpoints.iter().rev() {
            let found = usable(lake, paths).await?;
            // It may have been made of an entry that was altered; the log makes it again, where that reaches back.
            let of_altered = altered.range((table, 0)..=(table, *version)).next_back();
            let is_replaced = match of_altered {
                Some((_, since)) => {
                    let older = checkpoints.range(..since).next_back();
                    let from = older.map_or(0, |(older, _)| older + 1);
                    let is_there = match older {
                        Some((_, paths)) => usable(lake, paths).await?.is_some(),
                        None => true,
                    };
                    is_there && (from..=*version).all(|entry| entries.contains(&entry))
                }
                None => false,
            };
            if let Some(files) = found.filter(|_| !is_replaced) {
                return Ok((Some(*version), files));
            }
            for path in paths {
                self.remove(path.clone(), RepairKind::Checkpoint);
            }
            self.checkpoints.insert(table);
        }
        Ok((None, Vec::new()))
    }

    /// The note of the newest checkpoint must name one that is there.
    async fn look_at_hint(
        &mut self,
        lake: &Storage,
        folder: &ObjectPath,
        (table, base): (TableName, Option<u64>),
    ) -> Result<(), LakeError> {
        let hint = ObjectPath::from(format!("{folder}/_last_checkpoint"));
        let Some(bytes) = get_bytes(lake, &hint).await? else {
            return Ok(());
        };
        let named = serde_json::from_slice::<LastCheckpoint>(&bytes)
            .ok()
            .map(|last| last.version);
        if named.is_some() && named == base {
            return Ok(());
        }
        // One that is older than the newest checkpoint is as good as none.
        if let Some(named) = named.filter(|named| base < Some(*named)) {
            let path = ObjectPath::from(format!("{folder}/{named:020}.checkpoint.parquet"));
            if !self.deletes.contains(&path) {
                self.tell(&path, RepairKind::Checkpoint);
            }
            self.checkpoints.insert(table);
        } else if named.is_none() {
            self.tell(&hint, RepairKind::Checkpoint);
            self.checkpoints.insert(table);
        }
        self.deletes.push(hint);
        Ok(())
    }
}

/// The files of a checkpoint, where all of them can be read as parts of one.
async fn usable(lake: &Storage, paths: &[ObjectPath]) -> Result<Option<Vec<(ObjectPath, Bytes)>>, LakeError> {
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        let bytes = get_bytes(lake, path)
            .await?
            .filter(|bytes| is_usable(Some(bytes.clone())));
        let Some(bytes) = bytes else { return Ok(None) };
        files.push((path.clone(), bytes));
    }
    Ok(Some(files))
}

fn in_lake(table: TableName, path: &ObjectPath) -> ObjectPath {
    ObjectPath::from(format!("{table}/{path}"))
}

async fn list(storage: &Storage, folder: Option<&ObjectPath>) -> Result<Vec<ObjectPath>, LakeError> {
    let listed = storage.store().list(folder).map_ok(|meta| meta.location);
    let mut paths: Vec<ObjectPath> = listed.try_collect().await.map_err(|source| StorageError::List {
        prefix: folder.map(ToString::to_string).unwrap_or_default(),
        source,
    })?;
    paths.sort_unstable();
    Ok(paths)
}

/// The copies of these entries, as far as any are kept.
async fn copied_entries(
    ticks: &Storage,
    mut wanted: BTreeSet<(TableName, u64)>,
) -> Result<BTreeMap<(TableName, u64), Bytes>, LakeError> {
    let mut found = BTreeMap::new();
    if wanted.is_empty() {
        return Ok(found);
    }
    for path in copies::kept(ticks).await? {
        let Some(copies) = copies::read(ticks, &path).await? else {
            continue;
        };
        for entry in copies.entries {
            let place = entry.place().filter(|_| !entry.is_damaged());
            if let Some(place) = place.filter(|place| wanted.remove(place)) {
                found.insert(place, Bytes::from(entry.text));
            }
        }
        if wanted.is_empty() {
            break;
        }
    }
    Ok(found)
}
