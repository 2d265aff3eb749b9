//! Reads selected columns of selected stores, for statistics about the lake.

use std::collections::BTreeSet;

use arrow::record_batch::RecordBatch;
use async_recursion::async_recursion as boxed;
use data_model::StoreHost;

use crate::delta::read;
use crate::error::lost_file;
use crate::files::{Scan, by_bucket, compute, load};
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
            let fetched = read(&storage, table, &files).await;
            let decoded = match fetched {
                Ok(bytes) => {
                    let stores = stores.clone();
                    compute(move || {
                        let wanted = Scan {
                            stores: Some(&stores),
                            columns: Some(columns),
                        };
                        load(table, bytes, wanted)
                    })
                    .await
                }
                Err(error) => Err(error),
            };
            match decoded {
                Ok(rows) => batches.extend(rows),
                Err(error) if lost_file(&error).is_some() => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "a file is missing or damaged; its rows are not counted");
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Some(batches))
    }
}
