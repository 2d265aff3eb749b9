//! Converts between model types and Arrow rows of the tables.

pub(crate) mod barcodes;
pub(crate) mod brands;
pub(crate) mod build;
pub(crate) mod catalogue;
pub(crate) mod columns;
pub(crate) mod content;
pub(crate) mod delivery;
pub(crate) mod exchange_rates;
pub(crate) mod history;
pub(crate) mod live;
pub(crate) mod nested;
pub(crate) mod offers;
pub(crate) mod place;
pub(crate) mod product_history;
pub(crate) mod products;
pub(crate) mod quarantine;
pub(crate) mod record;
pub(crate) mod reviews;
pub(crate) mod runs;
pub(crate) mod searches;
pub(crate) mod shipping;
pub(crate) mod variants;
pub(crate) mod widgets;

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::record_batch::RecordBatch;

use crate::error::unfit_columns;
use crate::{LakeError, TableName};

/// Approximate size of a page of products for preallocating columns. Without it, a column is copied each time it
/// doubles.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PageCapacity {
    pub(crate) products: usize,
    pub(crate) bytes: usize,
}

/// Number of text bytes of a product's id and uid.
pub(crate) const ID_BYTES: usize = 36;
pub(crate) const UID_BYTES: usize = 44;

/// The columns must be in the order of the table's schema.
pub(crate) fn batch(table: TableName, columns: Vec<ArrayRef>) -> Result<RecordBatch, LakeError> {
    RecordBatch::try_new(Arc::clone(&table.spec().schema), columns).map_err(unfit_columns(table))
}

/// Converts an unsigned Shopify id for a signed integer column. The cast keeps every bit.
pub(crate) const fn id_to_column(id: u64) -> i64 {
    id.cast_signed()
}

pub(crate) const fn id_from_column(id: i64) -> u64 {
    id.cast_unsigned()
}

pub(crate) fn count(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
