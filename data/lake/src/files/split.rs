//! Splits the rows of a commit batch by partition.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int32Array, StringArray, UInt64Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;

use crate::error::unfit_columns;
use crate::rows::batch;
use crate::rows::catalogue::repeated;
use crate::{LakeError, TableName};

/// Splits rows, which must be sorted by bucket, into buckets and drops the bucket column.
pub(crate) fn split_by_bucket(
    table: TableName,
    rows: &[RecordBatch],
) -> Result<HashMap<i32, Vec<RecordBatch>>, LakeError> {
    let mut parts: HashMap<i32, Vec<RecordBatch>> = HashMap::new();
    for rows in rows {
        let bucket: Option<&Int32Array> = rows.column(0).as_any().downcast_ref();
        let bucket = bucket.ok_or_else(|| LakeError::Value {
            table: table.as_str(),
            column: "bucket",
            value: rows.column(0).data_type().to_string(),
        })?;
        let data = without_partition(table, rows)?;
        let mut start = 0;
        for row in 1..=bucket.len() {
            if row == bucket.len() || bucket.value(row) != bucket.value(start) {
                let part = parts.entry(bucket.value(start)).or_default();
                part.push(data.slice(start, row - start));
                start = row;
            }
        }
    }
    Ok(parts)
}

/// Splits rows by the text in the partition column, if the table has one.
pub(crate) fn split_by_text(
    table: TableName,
    rows: &[RecordBatch],
) -> Result<BTreeMap<Option<String>, Vec<RecordBatch>>, LakeError> {
    let mut parts: BTreeMap<Option<String>, Vec<RecordBatch>> = BTreeMap::new();
    for rows in rows.iter().filter(|rows| rows.num_rows() > 0) {
        let data = without_partition(table, rows)?;
        let column: Option<&StringArray> = rows.column(0).as_any().downcast_ref();
        let Some(column) = column.filter(|_| table.spec().partition.is_some()) else {
            parts.entry(None).or_default().push(data);
            continue;
        };
        let mut places: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for (row, value) in column.iter().enumerate() {
            places.entry(value.unwrap_or_default()).or_default().push(row as u64);
        }
        for (value, rows) in places {
            let part = if rows.len() == data.num_rows() {
                data.clone()
            } else {
                take_record_batch(&data, &UInt64Array::from(rows)).map_err(unfit_columns(table))?
            };
            parts.entry(Some(value.to_owned())).or_default().push(part);
        }
    }
    Ok(parts)
}

fn without_partition(table: TableName, rows: &RecordBatch) -> Result<RecordBatch, LakeError> {
    let first = usize::from(table.spec().partition.is_some());
    RecordBatch::try_new(Arc::clone(&table.spec().file_schema), rows.columns()[first..].to_vec())
        .map_err(unfit_columns(table))
}

/// Returns the rows of a partition with the column that [`without_partition`] leaves out.
pub(crate) fn with_partition(
    table: TableName,
    rows: &RecordBatch,
    partition: Option<&str>,
) -> Result<RecordBatch, LakeError> {
    let mut columns = rows.columns().to_vec();
    if table.spec().partition.is_some() {
        let value = partition.unwrap_or_default();
        let column: ArrayRef = match (table.spec().schema.field(0).data_type(), value.parse()) {
            (DataType::Int32, Ok(bucket)) => Arc::new(Int32Array::from_value(bucket, rows.num_rows())),
            _ => repeated(value, rows.num_rows()),
        };
        columns.insert(0, column);
    }
    batch(table, columns)
}
