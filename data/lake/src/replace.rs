//! Replaces the rows of some stores in one partition; everything here is computation.

use std::collections::BTreeSet;
use std::ops::Range;

use arrow::array::{Array, ArrayRef, Int64Array, StringArray, UInt64Array};
use arrow::compute::{SortColumn, concat_batches, lexsort_to_indices, take_record_batch};
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use data_model::StoreHost;

use crate::files::{Decoder, Encoded, Encoder, Wanted};
use crate::rejected_reviews::with_refused;
use crate::rows::columns::Columns;
use crate::rows::id_from_column;
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
    files: &[(String, Bytes)],
    replacement: Replacement<'_>,
    config: &LakeConfig,
) -> Result<Result<PartitionOutcome, LakeError>, LakeError> {
    let Replacement {
        stores,
        new,
        keeps_refused,
    } = replacement;
    let of_stores = Wanted {
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
    let old = match batches(table, files.to_vec(), Wanted::default()) {
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

pub(crate) type Batches = Box<dyn Iterator<Item = Result<RecordBatch, LakeError>>>;

/// A table's rows in its order; decoded as they are needed where the file says that it is in order.
pub(crate) fn batches(
    table: TableName,
    mut files: Vec<(String, Bytes)>,
    wanted: Wanted<'_>,
) -> Result<Batches, LakeError> {
    if files.len() == 1
        && let Some((path, bytes)) = files.pop()
    {
        let decoder = Decoder::new(table, &path, bytes.clone(), wanted)?;
        if decoder.sorted {
            return Ok(Box::new(decoder));
        }
        files.push((path, bytes));
    }
    Ok(Box::new(load(table, files, wanted)?.into_iter().map(Ok)))
}

/// All rows of a partition, in the table's order.
pub(crate) fn load(
    table: TableName,
    files: Vec<(String, Bytes)>,
    wanted: Wanted<'_>,
) -> Result<Vec<RecordBatch>, LakeError> {
    let (count, mut batches, mut sorted) = (files.len(), Vec::new(), true);
    for (path, bytes) in files {
        let decoder = Decoder::new(table, &path, bytes, wanted)?;
        sorted &= decoder.sorted;
        batches.extend(decoder.collect::<Result<Vec<_>, _>>()?);
    }
    if count > 1 || !sorted {
        sort(table, &batches)
    } else {
        Ok(batches)
    }
}

/// Puts the rows of files that other programs wrote in the table's order.
pub(crate) fn sort(table: TableName, batches: &[RecordBatch]) -> Result<Vec<RecordBatch>, LakeError> {
    let Some(first) = batches.first() else {
        return Ok(Vec::new());
    };
    let failed = |source| LakeError::Columns {
        table: table.as_str(),
        source,
    };
    let all = concat_batches(&first.schema(), batches).map_err(failed)?;
    let mut keys = Vec::new();
    for name in [
        "store",
        "platform_product_id",
        "variant_id",
        "position",
        "pincode",
        "tick",
        "observed_at",
    ] {
        // The order of variants within a product is the store's, which `position` says.
        let Some(column) = all.column_by_name(name) else {
            continue;
        };
        if name == "variant_id" && all.column_by_name("position").is_some() {
            continue;
        }
        let column: ArrayRef = match column.as_any().downcast_ref::<Int64Array>() {
            Some(ids) => std::sync::Arc::new(ids.iter().map(|id| id.map(id_from_column)).collect::<UInt64Array>()),
            None => std::sync::Arc::clone(column),
        };
        keys.push(SortColumn {
            values: column,
            options: None,
        });
    }
    if keys.is_empty() {
        return Ok(vec![all]);
    }
    let order = lexsort_to_indices(&keys, None).map_err(failed)?;
    Ok(vec![take_record_batch(&all, &order).map_err(failed)?])
}

/// The first row of each run of equal stores.
pub(crate) fn store_runs(store: &StringArray) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for row in 0..store.len() {
        match runs.last_mut() {
            Some(run) if store.value(run.start) == store.value(row) => run.end = row + 1,
            _ => runs.push(row..row + 1),
        }
    }
    runs
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
