//! Checks that a table can be opened from a checkpoint. A damaged checkpoint may still be valid Parquet with other
//! column names or types, which no reader of the log understands.

use arrow::array::{Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Fields};
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// Path of a column in the schema, and a predicate that accepts its data type.
type Column = (&'static [&'static str], fn(&DataType) -> bool);

/// Columns that every checkpoint must have, regardless of its writer (the Delta protocol, "Checkpoint Schema").
const COLUMNS: [Column; 16] = [
    (&["protocol", "minReaderVersion"], is_integer),
    (&["protocol", "minWriterVersion"], is_integer),
    (&["metaData", "id"], is_text),
    (&["metaData", "format", "provider"], is_text),
    (&["metaData", "schemaString"], is_text),
    (&["metaData", "partitionColumns"], is_list),
    (&["metaData", "configuration"], is_map),
    (&["txn", "appId"], is_text),
    (&["txn", "version"], is_long),
    (&["add", "path"], is_text),
    (&["add", "partitionValues"], is_map),
    (&["add", "size"], is_long),
    (&["add", "modificationTime"], is_long),
    (&["add", "dataChange"], is_boolean),
    (&["remove", "path"], is_text),
    (&["remove", "dataChange"], is_boolean),
];

fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn is_integer(kind: &DataType) -> bool {
    *kind == DataType::Int32
}

fn is_long(kind: &DataType) -> bool {
    *kind == DataType::Int64
}

fn is_boolean(kind: &DataType) -> bool {
    *kind == DataType::Boolean
}

fn is_list(kind: &DataType) -> bool {
    matches!(kind, DataType::List(_) | DataType::LargeList(_))
}

fn is_map(kind: &DataType) -> bool {
    matches!(kind, DataType::Map(..))
}

fn find<'a>(fields: &'a Fields, path: &[&str]) -> Option<&'a Field> {
    let (first, rest) = path.split_first()?;
    let (_, field) = fields.find(first)?;
    match (rest, field.data_type()) {
        ([], _) => Some(field),
        (_, DataType::Struct(members)) => find(members, rest),
        _ => None,
    }
}

/// Returns `true` if the bytes can be read completely as a checkpoint, or as a part of one.
pub(crate) fn is_usable(bytes: Option<Bytes>) -> bool {
    let Some(builder) = bytes.and_then(|bytes| ParquetRecordBatchReaderBuilder::try_new(bytes).ok()) else {
        return false;
    };
    let fields = builder.schema().fields();
    let has = |path: &[&str], is_right: fn(&DataType) -> bool| {
        find(fields, path).is_some_and(|field| is_right(field.data_type()))
    };
    if !COLUMNS.iter().all(|(path, is_right)| has(path, *is_right)) {
        return false;
    }
    let Ok(rows) = builder.build() else { return false };
    let mut told = 0;
    for batch in rows {
        let Ok(batch) = batch else { return false };
        told += actions(&batch);
    }
    told > 0
}

/// Returns the number of rows of a record batch that contain an action.
fn actions(batch: &RecordBatch) -> usize {
    let columns = ["protocol", "metaData", "txn", "add", "remove"];
    let filled = columns.iter().filter_map(|name| batch.column_by_name(name));
    filled.map(|column| column.len() - column.null_count()).sum()
}
