//! Changes single rows of a table: new rows get their own file, and only files with removed or replaced rows are
//! rewritten.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::array::BooleanArray;
use arrow::compute::filter_record_batch;
use arrow::record_batch::RecordBatch;
use data_model::Timestamp;
use deltalake::kernel::Action;

use crate::delta::{Table, add, read};
use crate::error::unfit_columns;
use crate::files::{Scan, by_bucket, compute, encode, load, sort, split_by_bucket, write};
use crate::rows::{quarantine, widgets};
use crate::ticks::TickRecord;
use crate::{LakeError, TableName};

/// Keys of rows to be removed or replaced, by store.
type Keys = HashMap<String, HashSet<String>>;

/// Writes the commit batch's changes in the table. On an error, `actions` contains the changes written so far.
pub(crate) async fn patches(
    table: &Table,
    record: &TickRecord,
    rows: &[RecordBatch],
    buckets: u32,
    now: Timestamp,
    actions: &mut Vec<Action>,
) -> Result<(), LakeError> {
    let name = table.name;
    let mut new = split_by_bucket(name, rows)?;
    let mut leaving = Keys::new();
    for (store, key) in record.gone.get(name.as_str()).into_iter().flatten() {
        leaving.entry(store.to_string()).or_default().insert(key.clone());
    }
    for batch in rows {
        for (store, key) in row_keys(name, batch)? {
            leaving.entry(store).or_default().insert(key);
        }
    }
    if rows.iter().all(|batch| batch.num_rows() == 0) && leaving.is_empty() {
        return Ok(());
    }
    let leaving = Arc::new(leaving);
    let files = table.files();
    for bucket in by_bucket(&record.stores, buckets).into_keys() {
        let partition = bucket.to_string();
        let mut rows = new.remove(&bucket).unwrap_or_default();
        for file in files
            .iter()
            .filter(|file| file.partition.as_deref() == Some(partition.as_str()))
        {
            let bytes = read(&table.storage, name, std::slice::from_ref(file)).await?;
            let leaving = Arc::clone(&leaving);
            let kept = compute(move || without(name, load(name, bytes, &Scan::default())?, &leaving)).await?;
            if let Some(kept) = kept {
                rows.extend(kept);
                actions.push(file.remove(true, now));
            }
        }
        if rows.iter().all(|batch| batch.num_rows() == 0) {
            continue;
        }
        let encoded = compute(move || encode(name, &sort(name, &rows)?)).await?;
        let path = write(&table.storage, name, Some(&partition), &encoded).await?;
        actions.push(add(name, &path, Some(&partition), &encoded, now, true));
    }
    Ok(())
}

/// Returns the rows of a file that stay, or `None` if all of them stay.
fn without(table: TableName, batches: Vec<RecordBatch>, leaving: &Keys) -> Result<Option<Vec<RecordBatch>>, LakeError> {
    let (mut kept, mut has_left) = (Vec::with_capacity(batches.len()), false);
    for batch in batches {
        let stays = |(store, key): &(String, String)| !leaving.get(store).is_some_and(|keys| keys.contains(key));
        let mask: BooleanArray = row_keys(table, &batch)?.iter().map(|row| Some(stays(row))).collect();
        if mask.true_count() == batch.num_rows() {
            kept.push(batch);
            continue;
        }
        has_left = true;
        kept.push(filter_record_batch(&batch, &mask).map_err(unfit_columns(table))?);
    }
    Ok(has_left.then_some(kept))
}

fn row_keys(table: TableName, batch: &RecordBatch) -> Result<Vec<(String, String)>, LakeError> {
    match table {
        TableName::Quarantine => quarantine::keys(batch),
        table => widgets::keys(table, batch),
    }
}
