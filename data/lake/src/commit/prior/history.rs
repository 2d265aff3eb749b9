//! Derives the content of stores before a commit batch from the histories.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array, StringArray};
use arrow::compute::interleave;
use arrow::datatypes::Schema;
use arrow::record_batch::RecordBatch;
use data_model::StoreHost;

use super::{StoreRun, by_store};
use crate::delta::{data_files, scan};
use crate::error::{unfit_columns, unless_lost};
use crate::files::{Scan, compute};
use crate::rows::columns::Columns;
use crate::rows::id_from_column;
use crate::rows::offers::StoreOffers;
use crate::rows::product_history::{ListedProducts, READ};
use crate::{Lake, LakeError, TableName};

impl Lake {
    /// The last `price_history` row of each variant has its offer.
    pub(crate) async fn offered_by_history(
        &self,
        stores: &BTreeMap<StoreHost, String>,
        offered: &mut HashMap<String, StoreOffers>,
    ) -> Result<(), LakeError> {
        let names: BTreeSet<StoreHost> = stores.keys().cloned().collect();
        let histories = self.snapshot().await?.price_history(&names).await;
        let Some(histories) = unless_lost(histories, UNKNOWN)? else {
            return Ok(());
        };
        for (store, history) in histories {
            let slug = stores.get(&store).map(String::as_str).unwrap_or_default();
            offered.insert(store.to_string(), StoreOffers::of_history(slug, &history));
        }
        Ok(())
    }

    /// The last `product_history` row of each product shows if it was listed.
    pub(crate) async fn listed_by_history(
        &self,
        stores: &BTreeMap<StoreHost, String>,
        listed: &mut HashMap<String, ListedProducts>,
    ) -> Result<(), LakeError> {
        const TABLE: TableName = TableName::ProductHistory;
        let names: BTreeSet<StoreHost> = stores.keys().cloned().collect();
        let snapshot = self.snapshot().await?;
        let (storage, mut batches) = (self.inner.storage.child(TABLE.as_str()), Vec::new());
        for file in data_files(TABLE, snapshot.table(TABLE).await?) {
            let is_gone = file.partition.as_deref() == Some("gone");
            let rows = |rows: &RecordBatch| Ok(vec![rows.clone()]);
            let read = scan(&storage, TABLE, &[file], Scan::of(&names), rows).await;
            let Some(rows) = unless_lost(read, UNKNOWN)? else {
                return Ok(());
            };
            batches.extend(rows.into_iter().map(|rows| HistoryBatch { is_gone, rows }));
        }
        let present = compute(move || present(&batches)).await?;
        let add = |listed: &mut ListedProducts, _: &str, run: StoreRun<'_>| listed.add(run.batch, run.rows);
        listed.extend(by_store(TableName::Products, &present, add)?);
        Ok(())
    }
}

/// Consequence if a history file is lost too.
const UNKNOWN: &str =
    "the earlier prices of a brand are unknown, because files are missing or damaged; its history starts afresh";

struct HistoryBatch {
    /// `true` if the rows are in the partition of removed products.
    is_gone: bool,
    rows: RecordBatch,
}

/// Returns the last rows of products that are not gone, with the columns [`READ`] of `products`.
fn present(batches: &[HistoryBatch]) -> Result<Vec<RecordBatch>, LakeError> {
    /// Commit batch number, true if the product is gone since, and position of the row.
    type LastRow = (i64, bool, (usize, usize));
    let mut last: BTreeMap<(&str, u64), LastRow> = BTreeMap::new();
    for (index, batch) in batches.iter().enumerate() {
        let columns = Columns::new(TableName::ProductHistory, &batch.rows);
        let store: &StringArray = columns.text("store")?;
        let (product, tick): (&Int64Array, &Int64Array) = (columns.int("platform_product_id")?, columns.int("tick")?);
        for row in 0..batch.rows.num_rows() {
            let found = (tick.value(row), batch.is_gone, (index, row));
            let key = (store.value(row), id_from_column(product.value(row)));
            let known = last.entry(key).or_insert(found);
            if known.0 < found.0 {
                *known = found;
            }
        }
    }
    let places: Vec<(usize, usize)> = last.values().filter(|last| !last.1).map(|last| last.2).collect();
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let failed = unfit_columns(TableName::ProductHistory);
    let (mut fields, mut columns): (Vec<arrow::datatypes::FieldRef>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for name in READ {
        let parts: Vec<&dyn Array> = batches
            .iter()
            .filter_map(|batch| batch.rows.column_by_name(name).map(|column| &**column))
            .collect();
        columns.push(interleave(&parts, &places).map_err(failed)?);
        let schema = &TableName::ProductHistory.spec().schema;
        fields.push(Arc::new(schema.field_with_name(name).map_err(failed)?.clone()));
    }
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns);
    Ok(vec![batch.map_err(failed)?])
}
