//! Merges small files into large ones, and removes files that no retained state needs.

mod vacuum;

use std::collections::BTreeMap;

use arrow::record_batch::RecordBatch;
use async_recursion::async_recursion as boxed;
use deltalake::kernel::Action;
use deltalake::protocol::DeltaOperation;

use crate::config::{ATTEMPTS_MAX, COMPACT_FILE_BYTES};
use crate::delta::{CommitOutcome, DataFile, PreparedActions, PreparedTable, Table, add, discard, read};
use crate::error::unless_lost;
use crate::files::{Encoded, FileBytes, Scan, compute, encode, load, sort, write};
use crate::lake::State;
use crate::ticks::{PackedRows, TickKind, TickRecord};
use crate::{Lake, LakeError, TableName};

pub use vacuum::{VacuumKeep, VacuumReport};

/// Group of files that were merged into one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileMerge {
    /// Table whose files were merged.
    pub table: TableName,
    /// Value of the table's partition column, if it has one.
    pub partition: Option<String>,
    /// Number of files before the merge.
    pub files: usize,
    /// Total size of the files before the merge, in bytes.
    pub bytes: u64,
}

/// Result of [`Lake::compact`], or of a dry run of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompactReport {
    /// Merges that were made, or would be made on a dry run.
    pub merged: Vec<FileMerge>,
    /// Number of the commit batch. `None` if there was nothing to merge, or in a dry run.
    pub tick: Option<u64>,
}

impl Lake {
    /// Merges small files of append-only tables and writes a checkpoint of every table. No row of a store changes; the
    /// built-in reference tables of another program are replaced by those of this one. With `dry_run` nothing is written.
    ///
    /// # Errors
    /// The storage fails, a table is not readable, or other processes keep committing first.
    #[boxed]
    pub async fn compact(&self, dry_run: bool) -> Result<CompactReport, LakeError> {
        if !dry_run {
            self.renew_facts().await?;
        }
        self.merge_files(Amount::All, dry_run).await
    }

    /// Compacts as [`Lake::compact`] does, with at most `merges_max` merges, each of several files of similar size.
    /// Over many calls, a row is therefore rewritten only a few times, however large its table is. Most calls find
    /// nothing to merge and write nothing.
    ///
    /// # Errors
    /// The errors of [`Lake::compact`].
    #[boxed]
    pub async fn compact_some(&self, merges_max: usize) -> Result<CompactReport, LakeError> {
        self.merge_files(Amount::Merges(merges_max), false).await
    }

    async fn merge_files(&self, amount: Amount, dry_run: bool) -> Result<CompactReport, LakeError> {
        let mut state = self.state().await;
        let mut worth = None;
        for _ in 0..ATTEMPTS_MAX {
            self.recover(&mut state).await?;
            // Other processes may have committed outside of any commit batch.
            state.tables = None;
            let tables = self.tables(&mut state).await?;
            if dry_run {
                let groups = tables.values().flat_map(|table| {
                    let groups = groups(table, amount).into_iter();
                    groups.map(|group| merged(table.name, &group))
                });
                let merged = groups.collect();
                return Ok(CompactReport { merged, tick: None });
            }
            // The merge comes before the commit batch, because unreadable files may leave nothing to merge. It is done
            // only once, even if other processes keep beginning their batches first. Tables that they changed are
            // merged again within the batch.
            let (prepared, merged) = match worth.take() {
                Some(worth) => worth,
                None => self.prepare_merges(tables, amount).await?,
            };
            if merged.is_empty() {
                return Ok(CompactReport { merged, tick: None });
            }
            let tick = state.ended + 1;
            let (token, staged) = self.inner.ticks.stage(tick, PackedRows::default()).await?;
            let record = TickRecord {
                token,
                staged,
                ..TickRecord::new(tick, TickKind::Compact, self.inner.clock.now())
            };
            if self.inner.ticks.begin(&record).await? {
                let merged = self.merge(&mut state, &record, amount, prepared, merged).await?;
                return Ok(CompactReport {
                    merged,
                    tick: Some(tick),
                });
            }
            worth = Some((prepared, merged));
        }
        if let Some((prepared, _)) = worth {
            discard(&self.inner.storage, &prepared).await;
        }
        Err(LakeError::Contended)
    }

    /// Merges the files of all tables without a commit, and returns the actions with a description of each merge.
    async fn prepare_merges(
        &self,
        tables: &BTreeMap<TableName, Table>,
        amount: Amount,
    ) -> Result<(PreparedActions, Vec<FileMerge>), LakeError> {
        let (mut prepared, mut merged) = (PreparedActions::new(), Vec::new());
        for table in tables.values() {
            let (actions, of_table) = self.merges(table, amount).await?;
            let version = table.version();
            prepared.insert(table.name, PreparedTable { version, actions });
            merged.extend(of_table);
        }
        Ok((prepared, merged))
    }

    async fn merge(
        &self,
        state: &mut State,
        record: &TickRecord,
        amount: Amount,
        mut prepared: PreparedActions,
        mut merged: Vec<FileMerge>,
    ) -> Result<Vec<FileMerge>, LakeError> {
        let mut tables = state.tables.take().unwrap_or_default();
        for table in tables.values_mut() {
            for _ in 0..ATTEMPTS_MAX {
                let actions = match prepared.remove(&table.name) {
                    Some(PreparedTable { version, actions }) if version == table.version() => actions,
                    // Another process changed the table meanwhile.
                    stale => {
                        let stale = stale.map(|stale| (table.name, stale));
                        discard(&self.inner.storage, &PreparedActions::from_iter(stale)).await;
                        let (actions, of_table) = self.merges(table, amount).await?;
                        merged.retain(|one| one.table != table.name);
                        merged.extend(of_table);
                        actions
                    }
                };
                let operation = DeltaOperation::Optimize {
                    predicate: None,
                    target_size: i64::try_from(COMPACT_FILE_BYTES).unwrap_or(i64::MAX),
                };
                let now = self.inner.clock.now();
                // Another process may have ended this commit batch meanwhile and begun the next one. The table's batch
                // number must not decrease.
                let tick = record.tick.max(table.tick());
                if actions.is_empty()
                    || table.commit(actions, operation, tick, None, now).await? == CommitOutcome::Landed
                {
                    break;
                }
            }
            if amount == Amount::All {
                table.checkpoint_now().await?;
            }
        }
        state.tables = Some(tables);
        self.finish_tick(state, record, Vec::new(), None).await?;
        Ok(merged)
    }

    async fn merges(&self, table: &Table, amount: Amount) -> Result<(Vec<Action>, Vec<FileMerge>), LakeError> {
        let (mut actions, mut done, now) = (Vec::new(), Vec::new(), self.inner.clock.now());
        for group in groups(table, amount) {
            let (group, bytes) = readable(table, group).await?;
            if group.len() < files_min(table.name, amount) {
                continue;
            }
            let name = table.name;
            let encoded = compute(move || merge_rows(name, bytes)).await?;
            let partition = group.first().and_then(|file| file.partition.as_deref());
            let path = write(&table.storage, table.name, partition, &encoded).await?;
            actions.extend(group.iter().map(|file| file.remove(false, now)));
            actions.push(add(table.name, &path, partition, &encoded, now, false));
            done.push(merged(table.name, &group));
        }
        Ok((actions, done))
    }
}

/// Missing or damaged files stay as they are.
async fn readable(table: &Table, group: Vec<DataFile>) -> Result<(Vec<DataFile>, Vec<FileBytes>), LakeError> {
    let (mut files, mut bytes) = (Vec::with_capacity(group.len()), Vec::with_capacity(group.len()));
    for file in group {
        let read = read(&table.storage, table.name, std::slice::from_ref(&file)).await;
        if let Some(read) = unless_lost(read, "a file is excluded from a merge because it is missing or damaged")? {
            bytes.extend(read);
            files.push(file);
        }
    }
    Ok((files, bytes))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Amount {
    All,
    Merges(usize),
}

const FILES_MIN: usize = 8;

/// Files up to this size, in bytes, are merged without a comparison of their sizes.
const SMALL_BYTES: u64 = 64 << 10;

fn merge_rows(table: TableName, files: Vec<FileBytes>) -> Result<Encoded, LakeError> {
    let rows: Vec<RecordBatch> = load(table, files, &Scan::default())?;
    encode(table, &sort(table, &rows)?)
}

fn merged(table: TableName, group: &[DataFile]) -> FileMerge {
    let partition = group.first().and_then(|file| file.partition.clone());
    FileMerge {
        table,
        partition,
        files: group.len(),
        bytes: group.iter().map(|file| file.size).sum(),
    }
}

/// Groups the files that are worth merging. For a current-state table, these are the partitions with more than one
/// file, which this program itself never writes.
fn groups(table: &Table, amount: Amount) -> Vec<Vec<DataFile>> {
    let mut partitions: BTreeMap<Option<String>, Vec<DataFile>> = BTreeMap::new();
    for file in table.files() {
        partitions.entry(file.partition.clone()).or_default().push(file);
    }
    let mut groups = Vec::new();
    for mut files in partitions.into_values() {
        if !table.name.is_tiered() {
            groups.push(files);
            continue;
        }
        files.retain(|file| file.size < COMPACT_FILE_BYTES);
        files.sort_by(|left, right| left.size.cmp(&right.size).then_with(|| left.path.cmp(&right.path)));
        let (mut group, mut bytes) = (Vec::new(), 0);
        for file in files {
            // A file that is larger than all smaller ones together waits for more files of its size.
            let is_larger = amount != Amount::All && file.size > SMALL_BYTES.max(bytes);
            if is_larger || bytes + file.size > COMPACT_FILE_BYTES {
                groups.push(std::mem::take(&mut group));
                bytes = 0;
            }
            bytes += file.size;
            group.push(file);
        }
        groups.push(group);
    }
    groups.retain(|group| group.len() >= files_min(table.name, amount));
    if let Amount::Merges(most) = amount {
        groups.truncate(most);
    }
    groups
}

/// Returns the minimum number of files that are worth a merge.
fn files_min(table: TableName, amount: Amount) -> usize {
    match amount {
        Amount::Merges(_) if table.is_tiered() => FILES_MIN,
        Amount::Merges(_) | Amount::All => 2,
    }
}
