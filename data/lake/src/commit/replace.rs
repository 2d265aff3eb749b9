//! Replaces the rows of some stores in one partition. The module does no I/O.

use std::collections::BTreeSet;
use std::ops::Range;

use arrow::record_batch::RecordBatch;
use data_model::StoreHost;

use super::refused::with_refused;
use crate::files::{Batches, Encoded, Encoder, FileBytes, Scan, batches};
use crate::rows::columns::{Columns, store_runs};
use crate::{LakeError, TableName};

#[derive(Debug)]
pub(crate) enum PartitionOutcome {
    /// The new rows equal the old rows.
    Unchanged,
    /// No rows are left in the partition.
    Emptied,
    /// One new file contains all rows of the partition.
    File(Encoded),
}

/// Consecutive rows of one store in one record batch.
#[derive(Debug)]
struct Run<'a> {
    store: &'a str,
    batch: &'a RecordBatch,
    rows: Range<usize>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Replacement<'a> {
    pub(crate) stores: &'a BTreeSet<StoreHost>,
    /// New rows in the table's sort order.
    pub(crate) new: &'a [RecordBatch],
    /// `true` if rows of refused reviews stay.
    pub(crate) keeps_refused: bool,
}

/// Removes the rows of stores from a partition's files, inserts the new rows, and encodes the result. The old rows are
/// streamed, so that the rows of all stores are never in memory at once.
///
/// # Errors
/// The inner result fails if the old rows cannot be read.
pub(crate) fn replace(
    table: TableName,
    files: &[FileBytes],
    replacement: Replacement<'_>,
) -> Result<Result<PartitionOutcome, LakeError>, LakeError> {
    let Replacement {
        stores,
        new,
        keeps_refused,
    } = replacement;
    let of_stores = &Scan::of(stores);
    let with_refused = if keeps_refused {
        match batches(table, files.to_vec(), of_stores).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
            Ok(old) => Some(with_refused(&old, stores, new.to_vec())?),
            Err(error) => return Ok(Err(error)),
        }
    } else {
        None
    };
    let new = with_refused.as_deref().unwrap_or(new);
    match batches(table, files.to_vec(), of_stores).and_then(|old| same_rows(old, new)) {
        Ok(true) => return Ok(Ok(PartitionOutcome::Unchanged)),
        Ok(false) => {}
        Err(error) => return Ok(Err(error)),
    }
    let old = match batches(table, files.to_vec(), &Scan::default()) {
        Ok(old) => old,
        Err(error) => return Ok(Err(error)),
    };
    let mut new = runs(table, new)?;
    // The sort is stable, so that the record batches of one store keep their order.
    new.sort_by_key(|run| run.store);
    let (mut new, mut encoder) = (new.iter().peekable(), Encoder::new(table)?);
    for batch in old {
        let batch = match batch {
            Ok(batch) => batch,
            Err(error) => return Ok(Err(error)),
        };
        for run in runs(table, std::slice::from_ref(&batch))? {
            while let Some(before) = new.next_if(|new| new.store < run.store) {
                encoder.write(&slice(before))?;
            }
            if !stores.iter().any(|store| store.as_str() == run.store) {
                encoder.write(&slice(&run))?;
            }
        }
    }
    for run in new {
        encoder.write(&slice(run))?;
    }
    let encoded = encoder.finish_any()?;
    Ok(Ok(encoded.map_or(PartitionOutcome::Emptied, PartitionOutcome::File)))
}

fn runs(table: TableName, batches: &[RecordBatch]) -> Result<Vec<Run<'_>>, LakeError> {
    let mut runs = Vec::new();
    for batch in batches {
        let store = Columns::new(table, batch).text("store")?;
        runs.extend(store_runs(store).into_iter().map(|rows| Run {
            store: store.value(rows.start),
            batch,
            rows,
        }));
    }
    Ok(runs)
}

/// Returns `true` if both have the same rows in the same order, however they are split into record batches.
fn same_rows(mut old: Batches, new: &[RecordBatch]) -> Result<bool, LakeError> {
    let rest = |batch: &RecordBatch, from: usize| {
        let rest = batch.num_rows() - from;
        (rest > 0).then(|| batch.slice(from, rest))
    };
    let (mut new, mut other) = (new.iter().filter(|batch| batch.num_rows() > 0), None);
    while let Some(batch) = old.next().transpose()? {
        let mut one = rest(&batch, 0);
        while let Some(left) = one {
            let Some(right) = other.take().or_else(|| new.next().cloned()) else {
                return Ok(false);
            };
            let len = left.num_rows().min(right.num_rows());
            if left.slice(0, len).columns() != right.slice(0, len).columns() {
                return Ok(false);
            }
            (one, other) = (rest(&left, len), rest(&right, len));
        }
    }
    Ok(other.is_none() && new.next().is_none())
}

fn slice(run: &Run<'_>) -> RecordBatch {
    run.batch.slice(run.rows.start, run.rows.len())
}
