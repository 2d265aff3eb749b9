use std::sync::LazyLock;

use arrow::array::{Array, FixedSizeBinaryArray, RecordBatch, UInt32Array};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use data_model::{ProductId, ProductIdent, ProductUid};

use super::table::{Columns, columns};

pub(crate) const LOOKUP: &str = "lookup.arrow";

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(LookupColumns::schema);

columns! {
    /// Two sorted columns of identifiers, each with the row of the identifier.
    LookupColumns, LookupColumnsWriter {
        id: [u8; 16],
        id_row: u32,
        uid: [u8; 20],
        uid_row: u32,
    }
}

/// Index from UUID and from uid to rows: two sorted columns for binary search.
#[derive(Debug)]
pub(crate) struct Lookup(LookupColumns);

impl Lookup {
    pub(crate) fn schema() -> &'static SchemaRef {
        &SCHEMA
    }

    pub(crate) fn of(batch: &RecordBatch) -> Result<Self, ArrowError> {
        let lookup = LookupColumns::of(batch)?;
        let rows = batch.num_rows();
        let inside = |column: &UInt32Array| column.values().iter().all(|row| (*row as usize) < rows);
        if inside(&lookup.id_row) && inside(&lookup.uid_row) {
            Ok(Self(lookup))
        } else {
            Err(ArrowError::InvalidArgumentError(
                "a row number exceeds the part's number of rows".to_owned(),
            ))
        }
    }

    pub(crate) fn find(&self, ident: &ProductIdent) -> Option<u32> {
        let columns = &self.0;
        match ident {
            ProductIdent::Id(id) => search(&columns.id, id.as_bytes()).map(|at| columns.id_row.value(at)),
            ProductIdent::Uid(uid) => search(&columns.uid, uid.as_bytes()).map(|at| columns.uid_row.value(at)),
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

pub(crate) fn write_lookup(ids: &[ProductId], uids: &[ProductUid]) -> Result<RecordBatch, ArrowError> {
    let mut columns = LookupColumnsWriter::default();
    for (id, row) in sorted(ids) {
        columns.id.push(*id.as_bytes());
        columns.id_row.push(row);
    }
    for (uid, row) in sorted(uids) {
        columns.uid.push(*uid.as_bytes());
        columns.uid_row.push(row);
    }
    LookupColumns::batch(&mut columns, &SCHEMA)
}

fn sorted<T: Ord>(keys: &[T]) -> Vec<(&T, u32)> {
    let mut order: Vec<(&T, u32)> = keys.iter().zip(0..).collect();
    order.sort_unstable();
    order
}
