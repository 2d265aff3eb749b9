//! Reads rows of data files in the order of their table.

use arrow::array::{ArrayRef, Int64Array, UInt64Array};
use arrow::compute::{SortColumn, concat_batches, lexsort_to_indices, take_record_batch};
use arrow::record_batch::RecordBatch;

use super::objects::FileBytes;
use super::parquet::{Decoder, Scan};
use crate::error::unfit_columns;
use crate::rows::id_from_column;
use crate::{LakeError, TableName};

pub(crate) type Batches = Box<dyn Iterator<Item = Result<RecordBatch, LakeError>>>;

/// Rows of a sorted file are decoded lazily.
pub(crate) fn batches(table: TableName, mut files: Vec<FileBytes>, wanted: &Scan) -> Result<Batches, LakeError> {
    if files.len() == 1
        && let Some(FileBytes { path, bytes }) = files.pop()
    {
        let decoder = Decoder::new(table, &path, bytes.clone(), wanted)?;
        if decoder.sorted {
            return Ok(Box::new(decoder));
        }
        files.push(FileBytes { path, bytes });
    }
    Ok(Box::new(load(table, files, wanted)?.into_iter().map(Ok)))
}

/// Returns all rows of a partition in the table's order.
pub(crate) fn load(table: TableName, files: Vec<FileBytes>, wanted: &Scan) -> Result<Vec<RecordBatch>, LakeError> {
    let (count, mut batches, mut sorted) = (files.len(), Vec::new(), true);
    for FileBytes { path, bytes } in files {
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

/// Sorts the rows of files that other programs wrote into the table's order.
pub(crate) fn sort(table: TableName, batches: &[RecordBatch]) -> Result<Vec<RecordBatch>, LakeError> {
    let Some(first) = batches.first() else {
        return Ok(Vec::new());
    };
    let failed = unfit_columns(table);
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
        // Variants within a product keep the store's order, which `position` states.
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
