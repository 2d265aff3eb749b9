//! Replaces the rows of some stores in one partition; everything here is computation.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Range;

use arrow::array::{Array, ArrayRef, Int64Array, StringArray, UInt64Array};
use arrow::compute::{SortColumn, concat_batches, lexsort_to_indices, take_record_batch};
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use data_model::StoreHost;

use crate::files::{Decoder, Encoded, Wanted, encode};
use crate::rows::columns::Columns;
use crate::rows::id_from_column;
use crate::{LakeConfig, LakeError, TableName};

/// What becomes of a partition.
#[derive(Debug)]
pub(crate) enum Replaced {
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

/// Drops the rows of `stores` from a partition's, puts `new` in their place, and encodes the result.
pub(crate) fn replace(
    table: TableName,
    old: &[RecordBatch],
    stores: &BTreeSet<StoreHost>,
    new: &[RecordBatch],
    config: &LakeConfig,
) -> Result<Replaced, LakeError> {
    let old = runs(table, old)?;
    let new = runs(table, new)?;
    let replaced = |run: &&Run<'_>| stores.iter().any(|store| store.as_str() == run.store);
    if same_rows(
        &old.iter().filter(replaced).collect::<Vec<_>>(),
        &new.iter().collect::<Vec<_>>(),
    ) {
        return Ok(Replaced::Unchanged);
    }
    let mut merged: Vec<&Run<'_>> = old.iter().filter(|run| !replaced(run)).chain(&new).collect();
    // Stable: the batches of one store stay in their order.
    merged.sort_by_key(|run| run.store);
    if merged.is_empty() {
        return Ok(Replaced::Emptied);
    }
    let rows: Vec<RecordBatch> = merged
        .iter()
        .map(|run| run.batch.slice(run.rows.start, run.rows.len()))
        .collect();
    encode(table, &rows, config).map(Replaced::File)
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

/// Whether two sequences of runs hold the same rows in the same order, however they are cut.
fn same_rows(left: &[&Run<'_>], right: &[&Run<'_>]) -> bool {
    let rows = |runs: &[&Run<'_>]| runs.iter().map(|run| run.rows.len()).sum::<usize>();
    if rows(left) != rows(right) {
        return false;
    }
    let (mut left, mut right) = (left.iter().map(|run| slice(run)), right.iter().map(|run| slice(run)));
    let (mut a, mut b) = (left.next(), right.next());
    while let (Some(one), Some(other)) = (&a, &b) {
        let len = one.num_rows().min(other.num_rows());
        if one.slice(0, len).columns() != other.slice(0, len).columns() {
            return false;
        }
        let rest = |batch: &RecordBatch| batch.slice(len, batch.num_rows() - len);
        (a, b) = match one.num_rows().cmp(&other.num_rows()) {
            Ordering::Equal => (left.next(), right.next()),
            Ordering::Less => (left.next(), Some(rest(other))),
            Ordering::Greater => (Some(rest(one)), right.next()),
        };
    }
    true
}

fn slice(run: &Run<'_>) -> RecordBatch {
    run.batch.slice(run.rows.start, run.rows.len())
}
