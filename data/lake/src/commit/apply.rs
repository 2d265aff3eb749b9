//! Applies a commit batch to the tables, with at most one commit per table.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::record_batch::RecordBatch;
use data_model::{StoreHost, Timestamp};
use data_storage::Storage;
use deltalake::kernel::Action;
use futures::StreamExt;

use super::drops::drops;
use super::patch::patches;
use super::refused::keeps_refused;
use super::replace::{PartitionOutcome, Replacement, replace};
use super::run_row::run_row;
use super::shipping::replaced_stores;
use crate::config::ATTEMPTS_MAX;
use crate::delta::{
    CommitOutcome, DataFile, Losses, PreparedActions, PreparedTable, Table, add, append, discard, overwrite, read,
    restorations,
};
use crate::files::{FileBytes, by_bucket, compute, encode, split_by_bucket, split_by_text, write};
use crate::ticks::{Rows, TickKind, TickRecord, is_same};
use crate::{LakeError, TableName};

const AT_ONCE: usize = 4;

/// Table that every commit batch except a compaction changes first. The commit of its next version decides if the batch
/// is applied or given up.
pub(crate) const DECIDING: TableName = TableName::CrawlRuns;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApplyOutcome {
    /// Every table has the commit batch.
    Done,
    /// Another process gave the commit batch up before any table had it.
    GivenUp,
}

/// A commit batch with everything that is needed to apply it to the tables.
#[derive(Debug)]
pub(crate) struct Work<'a> {
    record: &'a TickRecord,
    rows: &'a Rows,
    run: Vec<RecordBatch>,
    buckets: u32,
    now: Timestamp,
    losses: Losses,
}

impl<'a> Work<'a> {
    pub(crate) fn new(
        record: &'a TickRecord,
        rows: &'a Rows,
        buckets: u32,
        now: Timestamp,
        losses: Losses,
    ) -> Result<Self, LakeError> {
        let run = vec![run_row(record)?];
        Ok(Self {
            record,
            rows,
            run,
            buckets,
            now,
            losses,
        })
    }

    fn rows_of(&self, table: TableName) -> &[RecordBatch] {
        if table == TableName::CrawlRuns {
            return &self.run;
        }
        let rows = self.rows.iter().find(|(of, _)| *of == table);
        rows.map_or(&[], |(_, rows)| rows.as_slice())
    }
}

/// Returns the tables that this kind of commit batch changes, in the order of their commits.
fn changed(record: &TickRecord) -> impl Iterator<Item = TableName> {
    let others = TableName::ALL.into_iter().filter(|table| *table != DECIDING);
    let all = std::iter::once(DECIDING).chain(others);
    all.filter(move |table| match record.kind {
        TickKind::Compact => false,
        // A crawl does not read delivery samples, review apps, reference data or searches. The first two are removed
        // with their brand.
        TickKind::Refresh => !is_apart(*table),
        // A backfill rereads pages that were observed before, so that the histories already contain them.
        TickKind::Backfill => {
            !is_apart(*table) && !matches!(table, TableName::PriceHistory | TableName::ProductHistory)
        }
        TickKind::Delivery => TableName::DELIVERY.contains(table) || *table == TableName::CrawlRuns,
        TickKind::Shipping => matches!(table, TableName::ShippingPolicies | TableName::CrawlRuns),
        TickKind::Reviews => {
            let is_refused = *table == TableName::Quarantine && record.gone.contains_key(table.as_str());
            TableName::WIDGETS.contains(table) || *table == TableName::CrawlRuns || is_refused
        }
        TickKind::Live => matches!(
            table,
            TableName::PriceHistory | TableName::LivePrices | TableName::CrawlRuns
        ),
        TickKind::Rates => matches!(table, TableName::ExchangeRates | TableName::CrawlRuns),
        TickKind::Searches => matches!(table, TableName::Searches | TableName::CrawlRuns),
        TickKind::Remove => !table.is_of_no_store(),
        TickKind::Restore => *table == DECIDING || record.restored.contains_key(table.as_str()),
        TickKind::Repair => {
            let is_marked = *table == TableName::Brands && !record.stores.is_empty();
            *table == DECIDING || is_marked || record.dropped.contains_key(table.as_str())
        }
    })
}

fn is_apart(table: TableName) -> bool {
    TableName::DELIVERY.contains(&table) || TableName::WIDGETS.contains(&table) || table.is_of_no_store()
}

/// Computes the commit batch's changes in the tables that do not have them yet, and writes the files that it adds.
pub(crate) async fn prepare(
    lake: &Storage,
    tables: &BTreeMap<TableName, Table>,
    work: &Work<'_>,
) -> Result<PreparedActions, LakeError> {
    let mut prepared = PreparedActions::new();
    for name in changed(work.record) {
        let Some(table) = tables.get(&name).filter(|table| table.tick() < work.record.tick) else {
            continue;
        };
        let mut actions = Vec::new();
        let done = changes(table, work, &mut actions).await;
        let version = table.version();
        prepared.insert(name, PreparedTable { version, actions });
        if let Err(error) = done {
            // The files that a restore adds existed before, and must not be discarded.
            if work.record.kind != TickKind::Restore {
                discard(lake, &prepared).await;
            }
            return Err(error);
        }
    }
    Ok(prepared)
}

/// Applies a commit batch to every table that does not have it yet.
pub(crate) async fn apply(
    tables: &mut BTreeMap<TableName, Table>,
    work: &Work<'_>,
    mut prepared: PreparedActions,
) -> Result<ApplyOutcome, LakeError> {
    for name in changed(work.record) {
        let Some(table) = tables.get_mut(&name) else { continue };
        let is_first = apply_to(table, work, prepared.remove(&name)).await?;
        if !is_first && name == DECIDING && table.has_given_up(work.record.tick).await? {
            return Ok(ApplyOutcome::GivenUp);
        }
    }
    Ok(ApplyOutcome::Done)
}

pub(crate) async fn is_given_up(tables: &BTreeMap<TableName, Table>, tick: u64) -> Result<bool, LakeError> {
    match tables.get(&DECIDING) {
        Some(table) => Ok(table.tick() >= tick && table.has_given_up(tick).await?),
        None => Ok(false),
    }
}

/// Commits happen in order, and the first and the last table change with every commit batch. These two show if every
/// table has it.
pub(crate) fn is_applied(tables: &BTreeMap<TableName, Table>, record: &TickRecord) -> bool {
    let has_it = |name: TableName| tables.get(&name).is_some_and(|table| table.tick() >= record.tick);
    changed(record).last().is_some_and(has_it) && has_it(DECIDING)
}

/// Returns `false` if the table already had the commit batch.
async fn apply_to(table: &mut Table, work: &Work<'_>, mut prepared: Option<PreparedTable>) -> Result<bool, LakeError> {
    let operation = if table.name.spec().append_only {
        append
    } else {
        overwrite
    };
    for _ in 0..ATTEMPTS_MAX {
        if table.tick() >= work.record.tick {
            return Ok(false);
        }
        let mut actions = Vec::new();
        match prepared.take() {
            Some(prepared) if prepared.version == table.version() => actions = prepared.actions,
            _ => changes(table, work, &mut actions).await?,
        }
        let operation = operation(table.name);
        let fence = work.record.fence.filter(|_| table.name == DECIDING);
        // The last table records every commit batch, which proves that all tables have the batch.
        let is_last = changed(work.record).last() == Some(table.name);
        if (actions.is_empty() && !is_last)
            || table
                .commit(actions, operation, work.record.tick, fence, work.now)
                .await?
                == CommitOutcome::Landed
        {
            return Ok(true);
        }
    }
    Err(LakeError::Contended)
}

/// On an error, `actions` contains the changes computed so far.
async fn changes(table: &Table, work: &Work<'_>, actions: &mut Vec<Action>) -> Result<(), LakeError> {
    if let Some(version) = work.record.restored.get(table.name.as_str()) {
        return restorations(table, *version, work.now, actions).await;
    }
    if matches!(work.record.kind, TickKind::Repair | TickKind::Searches) {
        drops(table, work.record, work.buckets, work.now, actions).await?;
        return additions(table, work, actions).await;
    }
    if TableName::REFERENCE.contains(&table.name) {
        actions.extend(table.files().iter().map(|file| file.remove(true, work.now)));
    }
    if work.record.kind == TickKind::Reviews && TableName::CURRENT.contains(&table.name) {
        let rows = work.rows_of(table.name);
        patches(table, work.record, rows, work.buckets, work.now, actions).await
    } else if TableName::CURRENT.contains(&table.name) {
        replacements(table, work, actions).await
    } else {
        additions(table, work, actions).await
    }
}

/// Adds one file for each partition that has new rows.
async fn additions(table: &Table, work: &Work<'_>, actions: &mut Vec<Action>) -> Result<(), LakeError> {
    for (partition, rows) in split_by_text(table.name, work.rows_of(table.name))? {
        let name = table.name;
        let encoded = compute(move || encode(name, &rows)).await?;
        let path = write(&table.storage, table.name, partition.as_deref(), &encoded).await?;
        actions.push(add(table.name, &path, partition.as_deref(), &encoded, work.now, true));
    }
    Ok(())
}

#[derive(Debug)]
struct Partition {
    table: TableName,
    storage: Storage,
    bucket: i32,
    old: Vec<DataFile>,
    new: Vec<RecordBatch>,
    /// Stores of the commit batch. Their old rows are not needed if the old files are lost.
    stores: BTreeSet<StoreHost>,
    replaced: BTreeSet<StoreHost>,
    /// `true` if rows of refused reviews stay.
    keeps_refused: bool,
}

async fn replacements(table: &Table, work: &Work<'_>, actions: &mut Vec<Action>) -> Result<(), LakeError> {
    let mut new = split_by_bucket(table.name, work.rows_of(table.name))?;
    let files = table.files();
    let replaced = replaced_stores(table.name, work.record.kind, work.rows_of(table.name))?;
    let partitions = by_bucket(&work.record.stores, work.buckets)
        .into_iter()
        .filter(|(bucket, _)| !is_same(work.record, table.name, *bucket))
        .filter_map(|(bucket, stores)| {
            let partition = bucket.to_string();
            let old: Vec<DataFile> = files
                .iter()
                .filter(|file| file.partition.as_deref() == Some(partition.as_str()))
                .cloned()
                .collect();
            let new = new.remove(&bucket).unwrap_or_default();
            let replaced = match &replaced {
                Some(replaced) => stores.intersection(replaced).cloned().collect(),
                None => stores.clone(),
            };
            // A table like `reviews` has no rows for most stores.
            (!old.is_empty() || !new.is_empty()).then(|| Partition {
                table: table.name,
                storage: table.storage.clone(),
                bucket,
                old,
                new,
                stores,
                replaced,
                keeps_refused: keeps_refused(table.name, work.record.kind),
            })
        });
    let has_failed = AtomicBool::new(false);
    let begun = partitions.take_while(|_| !has_failed.load(Ordering::Relaxed));
    let rewritten = begun.map(|partition| rewrite(partition, work.losses.clone(), work.now));
    let mut rewritten = futures::stream::iter(rewritten).buffered(AT_ONCE);
    let mut done = Ok(());
    // If one partition fails, the writes of the others must end too: only a file whose path is known can be discarded.
    while let Some(more) = rewritten.next().await {
        match more {
            Ok(more) => actions.extend(more),
            Err(error) => {
                has_failed.store(true, Ordering::Relaxed);
                done = done.and(Err(error));
            }
        }
    }
    done
}

async fn rewrite(partition: Partition, losses: Losses, now: Timestamp) -> Result<Vec<Action>, LakeError> {
    let Partition {
        table,
        storage,
        bucket,
        old,
        new,
        stores,
        replaced,
        keeps_refused,
    } = partition;
    let read = read(&storage, table, &old).await;
    let replaced = Arc::new((new, replaced));
    let replacing = |files: Vec<FileBytes>| {
        let replaced = Arc::clone(&replaced);
        compute(move || {
            let (new, stores) = &*replaced;
            let replacement = Replacement {
                stores,
                new,
                keeps_refused,
            };
            replace(table, &files, replacement)
        })
    };
    let done = match read {
        Ok(files) => replacing(files).await?,
        Err(error) => Err(error),
    };
    let (done, is_lost) = match done {
        Ok(done) => (done, false),
        Err(error) => {
            losses.bear(bucket, &stores, error).await?;
            (replacing(Vec::new()).await??, true)
        }
    };
    let encoded = match done {
        PartitionOutcome::Unchanged if !is_lost => return Ok(Vec::new()),
        PartitionOutcome::Unchanged | PartitionOutcome::Emptied => None,
        PartitionOutcome::File(encoded) => Some(encoded),
    };
    let mut actions: Vec<Action> = old.iter().map(|file| file.remove(true, now)).collect();
    if let Some(encoded) = encoded {
        let bucket = bucket.to_string();
        let path = write(&storage, table, Some(&bucket), &encoded).await?;
        actions.push(add(table, &path, Some(&bucket), &encoded, now, true));
    }
    Ok(actions)
}
