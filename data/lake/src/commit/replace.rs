//! Replaces the rows of some stores in one partition; everything here is computation.

use std::collections::BTreeSet;
use std::ops::Range;

use arrow::record_batch::RecordBatch;
use data_model::StoreHost;

use super::refused::with_refused;
use crate::files::{Batches, Encoded, Encoder, FileBytes, Scan, batches};
use crate::rows::columns::{Columns, store_runs};
use crate::{LakeConfig, LakeError, TableName};

/// The outcome of a partition.
#[derive(Debug)]
pub(crate) enum PartitionOutcome {
    /// The new rows are the old rows.
    Unchanged,
    /// No rows are left.
    Emptied,
    /// One file holds all rows.
    File(Encoded),
}

/// Rows of one store that stand together in one batch.
#[derive(Debug)]
struct Run<'a> {
    store: &'a str,
    batch: &'a RecordBatch,
    rows: Range<usize>,
}

/// The rows that take the place of the rows of some stores.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Replacement<'a> {
    pub(crate) stores: &'a BTreeSet<StoreHost>,
    /// Sorted as the table is.
    pub(crate) new: &'a [RecordBatch],
    /// Rows of refused reviews stay.
    pub(crate) keeps_refused: bool,
}

/// Drops the rows of stores from those of a partition's files, puts new ones in their place, and encodes the result. The
/// old rows are read as they are written, so that those of all stores are never in memory at once.
///
/// # Errors
/// Within, that the old rows cannot be read.
pub(crate) fn replace(
    table: TableName,
    files: &[FileBytes],
    replacement: Replacement<'_>,
    config: &LakeConfig,
) -> Result<Result<PartitionOutcome, LakeError>, LakeError> {
    let Replacement {
        stores,
        new,
        keeps_refused,
    } = replacement;
    let of_stores = Scan {
        stores: Some(stores),
        columns: None,
    };
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
    let old = match batches(table, files.to_vec(), Scan::default()) {
        Ok(old) => old,
        Err(error) => return Ok(Err(error)),
    };
    let mut new = runs(table, new)?;
    // Stable: the batches of one store stay in their order.
    new.sort_by_key(|run| run.store);
    let (mut new, mut encoder) = (new.iter().peekable(), Encoder::new(table, config)?);
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

/// `true` where these are the same rows in the same order, however they are cut.
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
