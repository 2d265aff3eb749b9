//! Rows of the tables: from the model to Arrow and back.

pub(crate) mod brands;
pub(crate) mod columns;
pub(crate) mod history;
pub(crate) mod nested;
pub(crate) mod products;
pub(crate) mod quarantine;
pub(crate) mod reviews;
pub(crate) mod runs;
pub(crate) mod shipping;
pub(crate) mod variants;

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::record_batch::RecordBatch;

use crate::{LakeError, TableName};

/// Puts columns together that are in the order of the table's schema.
pub(crate) fn batch(table: TableName, columns: Vec<ArrayRef>) -> Result<RecordBatch, LakeError> {
    RecordBatch::try_new(Arc::clone(&table.spec().schema), columns).map_err(|source| LakeError::Columns {
        table: table.as_str(),
        source,
    })
}

/// The platform's ids are unsigned; tables know signed integers only. The cast keeps every bit.
pub(crate) const fn id_to_column(id: u64) -> i64 {
    id.cast_signed()
}

pub(crate) const fn id_from_column(id: i64) -> u64 {
    id.cast_unsigned()
}

pub(crate) fn count(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
