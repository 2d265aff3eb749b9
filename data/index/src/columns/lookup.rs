use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, FixedSizeBinaryArray, FixedSizeBinaryBuilder, RecordBatch, UInt32Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use data_model::{ProductId, ProductIdent, ProductUid};

use super::ipc::column;

/// File name within a release part.
pub(crate) const LOOKUP: &str = "lookup.arrow";

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    Arc::new(Schema::new(vec![
        Field::new("id", DataType::FixedSizeBinary(16), false),
        Field::new("id_row", DataType::UInt32, false),
        Field::new("uid", DataType::FixedSizeBinary(20), false),
        Field::new("uid_row", DataType::UInt32, false),
    ]))
});

/// Index from UUID and from uid to rows: two sorted columns for binary search.
#[derive(Debug)]
pub(crate) struct Lookup {
    ids: FixedSizeBinaryArray,
    id_rows: UInt32Array,
    uids: FixedSizeBinaryArray,
    uid_rows: UInt32Array,
}

impl Lookup {
    pub(crate) fn schema() -> &'static SchemaRef {
        &SCHEMA
    }

    pub(crate) fn of(batch: &RecordBatch) -> Result<Self, ArrowError> {
        let lookup = Self {
            ids: column(batch, "id")?,
            id_rows: column(batch, "id_row")?,
            uids: column(batch, "uid")?,
            uid_rows: column(batch, "uid_row")?,
        };
        let rows = batch.num_rows();
        let inside = |column: &UInt32Array| column.values().iter().all(|row| (*row as usize) < rows);
        if inside(&lookup.id_rows) && inside(&lookup.uid_rows) {
            Ok(lookup)
        } else {
            Err(ArrowError::InvalidArgumentError(
                "a row number exceeds the part's number of rows".to_owned(),
            ))
        }
    }

    pub(crate) fn find(&self, ident: &ProductIdent) -> Option<u32> {
        match ident {
            ProductIdent::Id(id) => search(&self.ids, id.as_bytes()).map(|at| self.id_rows.value(at)),
            ProductIdent::Uid(uid) => search(&self.uids, uid.as_bytes()).map(|at| self.uid_rows.value(at)),
        }
    }
}

fn search(sorted: &FixedSizeBinaryArray, wanted: &[u8]) -> Option<usize> {
    let (mut low, mut high) = (0, sorted.len());
    while low < high {
        let middle = low + (high - low) / 2;
        match sorted.value(middle).cmp(wanted) {
            std::cmp::Ordering::Equal => return Some(middle),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}

/// Returns the batch that maps the identifiers of each row to the row.
pub(crate) fn write_lookup(ids: &[ProductId], uids: &[ProductUid]) -> Result<RecordBatch, ArrowError> {
    let (ids, id_rows) = sorted(ids, 16, |id| id.as_bytes().as_slice())?;
    let (uids, uid_rows) = sorted(uids, 20, |uid| uid.as_bytes().as_slice())?;
    RecordBatch::try_new(Arc::clone(&SCHEMA), vec![ids, id_rows, uids, uid_rows])
}

fn sorted<T: Ord>(keys: &[T], width: i32, bytes: impl Fn(&T) -> &[u8]) -> Result<(ArrayRef, ArrayRef), ArrowError> {
    let mut order: Vec<(&T, u32)> = keys.iter().zip(0..).collect();
    order.sort_unstable();
    let mut column = FixedSizeBinaryBuilder::with_capacity(keys.len(), width);
    order.iter().try_for_each(|(key, _)| column.append_value(bytes(key)))?;
    let rows = UInt32Array::from_iter_values(order.iter().map(|(_, row)| *row));
    Ok((Arc::new(column.finish()), Arc::new(rows)))
}
