//! Reads selected columns of selected stores, for statistics about the lake.

use std::collections::BTreeSet;

use arrow::record_batch::RecordBatch;
use async_recursion::async_recursion as boxed;
use data_model::StoreHost;

use crate::delta::scan;
use crate::error::unless_lost;
use crate::files::{Scan, by_bucket};
use crate::{LakeError, LakeSnapshot, TableName};

impl LakeSnapshot {
    /// Groups the stores by the partition of their rows. Reading one group at a time needs only the memory of one
    /// partition.
    #[must_use]
    pub fn partitions<'a>(&self, stores: impl IntoIterator<Item = &'a StoreHost>) -> Vec<BTreeSet<StoreHost>> {
        by_bucket(stores, self.lake.inner.config.buckets)
            .into_values()
            .collect()
    }

    /// Returns the rows of these stores in a table, with only these columns, in table order. Returns `None` and logs a
    /// warning if a file with such rows is missing or damaged.
    ///
    /// # Errors
    /// The storage fails, or the table's log cannot be read.
    #[boxed]
    pub async fn portion(
        &self,
        table: TableName,
        stores: &BTreeSet<StoreHost>,
        columns: &'static [&'static str],
    ) -> Result<Option<Vec<RecordBatch>>, LakeError> {
        let storage = self.lake.inner.storage.child(table.as_str());
        let mut batches = Vec::new();
        for files in self.files(table, Some(stores)).await?.into_values() {
            let wanted = Scan::of(stores).columns(columns);
            let decoded = scan(&storage, table, &files, wanted, |batch| Ok(vec![batch.clone()])).await;
            match unless_lost(decoded, "a file is missing or damaged; its rows are not counted")? {
                Some(rows) => batches.extend(rows),
                None => return Ok(None),
            }
        }
        Ok(Some(batches))
    }
}
