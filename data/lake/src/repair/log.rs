//! Finds missing or damaged log entries and commit batch records. Entries and records that follow from the rest of the
//! lake are written again. For the others, the report states how to recover. Planning changes nothing.

use std::collections::BTreeSet;

use bytes::Bytes;
use data_storage::{ObjectPath, Storage, delete, get_bytes, keep_aside, list_all, put_over};
use futures::{StreamExt, TryStreamExt};

use crate::delta::{LastCheckpoint, LogFolder, READS_AT_ONCE, folder_of, is_usable, is_whole, tick_of};
use crate::files::digest;
use crate::repair::{LogRepair, RepairKind, UnrepairableObject};
use crate::ticks::{TickEnd, TickRecord};
use crate::{LakeError, TableName};

const LOST_NOW: &str = "the current state needs this log entry: restore the entry from a copy, or use `haat restore` to return to a \
     backup. Without a backup, move lake/ away; then `haat backfill --all --stage parse`, `haat crawl --force` and \
     `haat release build --full` rebuild the current state without its history";
const LOST_THEN: &str = "a log entry is lost: earlier states cannot be read unless the entry is restored from a copy; the current state \
     can be read";
const ALTERED: &str = "a log entry differs from what was committed: restore it from a copy, or use `haat restore` to return to a \
     backup";
const END_LOST: &str = "the record of this tick's end is lost: the lake's state at that tick cannot be read unless the record is restored \
     from a copy; the current state can be read";

/// Repairs that are needed before the lake can be opened.
#[derive(Debug, Default)]
pub(crate) struct LogRepairPlan {
    pub(crate) repaired: Vec<LogRepair>,
    pub(crate) stuck: Vec<UnrepairableObject>,
    deletes: Vec<ObjectPath>,
    /// Tables whose newest state stays unreadable even after the repairs.
    pub(crate) broken: BTreeSet<TableName>,
    /// Tables for which a checkpoint is to be written.
    pub(crate) checkpoints: BTreeSet<TableName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct LogEntry {
    table: TableName,
    version: u64,
}

impl LogEntry {
    fn path(self) -> ObjectPath {
        let Self { table, version } = self;
        ObjectPath::from(format!("{}/{version:020}.json", folder_of(table)))
    }
}

#[derive(Debug, Default)]
struct Base {
    version: Option<u64>,
    files: Vec<(ObjectPath, Bytes)>,
}

impl LogRepairPlan {
    /// Checks the commit batch records and every table's log. Copies the intact objects of the newest state into
    /// `shadow`.
    pub(crate) async fn plan(lake: &Storage, shadow: &Storage) -> Result<Self, LakeError> {
        let mut plan = Self::default();
        let ends = plan.look_at_ticks(&lake.child("_ticks")).await?;
        for table in TableName::ALL {
            let named = ends.last().and_then(|end| end.versions.get(table.as_str()).copied());
            plan.look_at_log(lake, shadow, table, named).await?;
        }
        for entry in altered(lake, &ends).await? {
            plan.name(entry, ALTERED);
        }
        Ok(plan)
    }

    /// Damaged objects move to `damaged/` in the lake.
    pub(crate) async fn apply(&self, lake: &Storage) -> Result<(), LakeError> {
        for path in &self.deletes {
            keep_aside(lake, path).await?;
            delete(lake, path).await?;
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

    /// Reports an entry that cannot be derived from the rest of the lake.
    fn name(&mut self, entry: LogEntry, reason: &'static str) {
        self.stuck.push(UnrepairableObject {
            path: entry.path().to_string(),
            table: Some(entry.table.as_str()),
            version: Some(entry.version),
            reason,
        });
    }

    /// Returns the readable commit batch end records in ascending order.
    async fn look_at_ticks(&mut self, ticks: &Storage) -> Result<Vec<TickEnd>, LakeError> {
        let (mut records, mut ends) = (BTreeSet::new(), BTreeSet::new());
        for meta in list_all(ticks, None).await? {
            let Some((digits, kind)) = meta.location.as_ref().split_once('.') else {
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
        let mut whole = Vec::new();
        for tick in first..=last {
            let path = ObjectPath::from(format!("{tick:020}.done.json"));
            let bytes = get_bytes(ticks, &path).await?;
            let path = ObjectPath::from(format!("_ticks/{path}"));
            match bytes.and_then(|bytes| serde_json::from_slice::<TickEnd>(&bytes).ok()) {
                Some(end) => whole.push(end),
                // The next process that opens the lake writes this end record again from the tables.
                None if tick == last => self.remove(path, RepairKind::End),
                None => self.stuck.push(UnrepairableObject {
                    path: path.to_string(),
                    table: None,
                    version: None,
                    reason: END_LOST,
                }),
            }
        }
        for tick in records.range(last + 1..) {
            let path = ObjectPath::from(format!("{tick:020}.json"));
            let bytes = get_bytes(ticks, &path).await?;
            if bytes.is_some_and(|bytes| serde_json::from_slice::<TickRecord>(&bytes).is_err()) {
                self.remove(ObjectPath::from(format!("_ticks/{path}")), RepairKind::Record);
            }
        }
        Ok(whole)
    }

    async fn look_at_log(
        &mut self,
        lake: &Storage,
        shadow: &Storage,
        table: TableName,
        named: Option<u64>,
    ) -> Result<(), LakeError> {
        let listed = LogFolder::list(lake, &folder_of(table), None).await?;
        let Base { version: base, files } = self.base(lake, table, &listed).await?;
        for (path, bytes) in files {
            put_over(shadow, &path, bytes).await?;
        }
        self.look_at_hint(lake, table, base).await?;
        let (first, entries) = (base.map_or(0, |base| base + 1), &listed.entries);
        let newest = entries.last().copied().max(named).max(base).unwrap_or(0);
        let earliest = entries.first().copied().unwrap_or(first).min(first);
        for version in earliest..=newest {
            let entry = LogEntry { table, version };
            let bytes = get_bytes(lake, &entry.path()).await?;
            let is_there = |bytes: &Bytes| !bytes.iter().all(u8::is_ascii_whitespace) && is_whole(bytes);
            match bytes.filter(is_there) {
                Some(bytes) if version >= first => put_over(shadow, &entry.path(), bytes).await?,
                Some(_) => {}
                None if version >= first => self.lose(entry),
                None => self.name(entry, LOST_THEN),
            }
        }
        Ok(())
    }

    /// Reports a lost entry that the newest state needs.
    fn lose(&mut self, entry: LogEntry) {
        self.broken.insert(entry.table);
        self.name(entry, LOST_NOW);
    }

    /// Returns the newest readable checkpoint. Unreadable ones after it are removed.
    async fn base(&mut self, lake: &Storage, table: TableName, listed: &LogFolder) -> Result<Base, LakeError> {
        for (version, paths) in listed.checkpoints.iter().rev() {
            if let Some(files) = usable(lake, paths).await? {
                let version = Some(*version);
                return Ok(Base { version, files });
            }
            for path in paths {
                self.remove(path.clone(), RepairKind::Checkpoint);
            }
            self.checkpoints.insert(table);
        }
        Ok(Base::default())
    }

    /// The `_last_checkpoint` file must name an existing checkpoint.
    async fn look_at_hint(&mut self, lake: &Storage, table: TableName, base: Option<u64>) -> Result<(), LakeError> {
        let folder = format!("{table}/_delta_log");
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
        // A hint that is older than the newest checkpoint is useless.
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

/// Returns the files of a checkpoint if all of them can be read and belong to the same checkpoint.
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

/// Returns the readable entries whose content differs from the digests in the commit batch end records.
async fn altered(lake: &Storage, ends: &[TickEnd]) -> Result<Vec<LogEntry>, LakeError> {
    let mut checks = Vec::new();
    for end in ends {
        for table in TableName::ALL {
            let (digest, version) = (end.digests.get(table.as_str()), end.versions.get(table.as_str()));
            if let Some((digest, version)) = digest.zip(version) {
                let version = *version;
                checks.push(altered_entry(lake, LogEntry { table, version }, digest, end.tick));
            }
        }
    }
    let checks = futures::stream::iter(checks).buffered(READS_AT_ONCE);
    let found: Vec<Option<LogEntry>> = checks.try_collect().await?;
    Ok(found.into_iter().flatten().collect())
}

/// Returns the entry if it belongs to the commit batch but differs from the batch's commit. An entry of another batch
/// at this version replaced a lost entry and is not damaged.
async fn altered_entry(
    lake: &Storage,
    entry: LogEntry,
    sha256: &str,
    tick: u64,
) -> Result<Option<LogEntry>, LakeError> {
    let bytes = get_bytes(lake, &entry.path()).await?;
    let bytes = bytes.filter(is_whole);
    let is_altered = |bytes: &Bytes| digest(bytes) != sha256 && tick_of(bytes) == Some(tick.into());
    Ok(bytes.filter(is_altered).map(|_| entry))
}
