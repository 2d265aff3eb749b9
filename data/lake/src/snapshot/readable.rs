//! Finds missing or damaged files of the lake, and reads the part that is still readable.

use std::collections::{BTreeMap, BTreeSet};

use async_recursion::async_recursion as boxed;
use data_model::{StoreHost, Timestamp};

use super::ReadableRows;
use crate::delta::{TableFile, lost_files};
use crate::files::Scan;
use crate::rows::brands::{BrandRow, brand_rows};
use crate::rows::live;
use crate::{LakeError, LakeSnapshot, TableName};

/// A missing or damaged data file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LostFile {
    /// Path of the file in the lake.
    pub path: String,
    /// Table of the file.
    pub table: TableName,
    /// Bucket of the file, which determines the stores with rows in it. `None` if the table has no buckets.
    pub bucket: Option<u32>,
}

impl LakeSnapshot {
    /// Returns the bucket of a store.
    #[must_use]
    pub fn bucket_of(&self, store: &StoreHost) -> u32 {
        store.bucket(self.lake.inner.config.buckets)
    }

    /// Returns the missing or damaged files of these tables. If `stores` are given, checks only files that can contain
    /// their rows. Every checked file is read completely.
    ///
    /// # Errors
    /// The storage fails, or a table's log cannot be read.
    #[boxed]
    pub async fn unreadable(
        &self,
        tables: &[TableName],
        stores: Option<&BTreeSet<StoreHost>>,
    ) -> Result<Vec<LostFile>, LakeError> {
        let mut files = Vec::new();
        for table in tables.iter().copied() {
            let storage = self.lake.inner.storage.child(table.as_str());
            let of_table = |file| TableFile {
                table,
                storage: storage.clone(),
                file,
            };
            files.extend(self.files(table, stores).await?.into_values().flatten().map(of_table));
        }
        let lost = lost_files(files).await?.into_iter();
        let mut lost: Vec<LostFile> = lost
            .map(|one| LostFile {
                path: one.path(),
                table: one.table,
                bucket: one.bucket(),
            })
            .collect();
        lost.sort_unstable();
        Ok(lost)
    }

    /// Returns the brands whose rows can be read, by store. Missing or damaged files are skipped.
    ///
    /// # Errors
    /// The storage fails.
    #[boxed]
    pub async fn readable_brands(&self) -> Result<Vec<BrandRow>, LakeError> {
        let read = self.readable_rows(TableName::Brands, None, Scan::default(), brand_rows);
        let ReadableRows { rows: mut brands, lost } = read.await?;
        for error in &lost {
            let error = error as &dyn std::error::Error;
            tracing::warn!(
                error,
                "a file of table brands is missing or damaged; its brands are unknown"
            );
        }
        brands.sort_by(|left, right| left.brand.store.cmp(&right.brand.store));
        Ok(brands)
    }

    /// Returns for each brand the time of its last price history row that does not come from the crawl in `variants`.
    /// Such a row comes from a live response, or from a later crawl that contradicts the live response. Brands without
    /// such a row are left out. If `stores` are given, only files that can contain their rows are read.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn live_changes(
        &self,
        stores: Option<&BTreeSet<StoreHost>>,
    ) -> Result<BTreeMap<StoreHost, Timestamp>, LakeError> {
        let changes = self.rows(TableName::LivePrices, stores, live::changes).await?;
        Ok(changes.into_iter().collect())
    }
}
