//! Missing or damaged data files: the brands that they affect, and the cases in which they are not needed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use data_model::{BrandSlug, StoreHost};
use data_storage::Storage;

use super::read::read;
use super::table::{DataFile, Table};
use crate::error::lost_file;
use crate::files::{Scan, compute, load};
use crate::rows::brands::brand_rows;
use crate::rows::columns::{Columns, store_runs};
use crate::{LakeError, TableName};

pub(crate) type Holder = (StoreHost, BrandSlug);

/// Effect of lost data files on a commit batch. A lost file is tolerated if the batch replaces or removes all of its
/// rows.
#[derive(Debug, Clone)]
pub(crate) struct Losses {
    /// Tables that show which stores have rows in a bucket, most reliable first. `brands` is the most reliable, because
    /// it is committed last.
    tables: Arc<[TableFiles; 2]>,
}

#[derive(Debug)]
struct TableFiles {
    table: TableName,
    storage: Storage,
    files: Vec<DataFile>,
}

impl Losses {
    pub(crate) fn new(lake: &Storage, tables: &BTreeMap<TableName, Table>) -> Self {
        let files = |table: TableName| TableFiles {
            table,
            storage: lake.child(table.as_str()),
            files: tables.get(&table).map(Table::files).unwrap_or_default(),
        };
        Self {
            tables: Arc::new([files(TableName::Brands), files(TableName::Products)]),
        }
    }

    /// Returns the brands with rows in the lost file that `error` names, if the rows are not needed because all of them
    /// belong to `replaced` stores.
    ///
    /// # Errors
    /// The rows are needed, or the error has another cause than a lost file.
    pub(crate) async fn bear(
        &self,
        bucket: i32,
        replaced: &BTreeSet<StoreHost>,
        error: LakeError,
    ) -> Result<Vec<Holder>, LakeError> {
        let Some(path) = lost_file(&error).map(str::to_owned) else {
            return Err(error);
        };
        match self.holders(bucket).await {
            Ok(held) if held.iter().all(|(store, _)| replaced.contains(store)) => {
                tracing::warn!(
                    path,
                    "a file is missing or damaged; all its rows are replaced or removed"
                );
                Ok(held)
            }
            held => Err(LakeError::Lost {
                path,
                // If these tables are damaged too, the brands cannot be determined.
                brands: held.unwrap_or_default(),
                source: Box::new(error),
            }),
        }
    }

    /// Returns the brands that have rows in a bucket. If the `brands` table itself is lost, returns those that have
    /// products there.
    pub(crate) async fn holders(&self, bucket: i32) -> Result<Vec<Holder>, LakeError> {
        let [brands, products] = &*self.tables;
        match holders_by(brands, bucket).await {
            Err(error) if lost_file(&error).is_some() => holders_by(products, bucket).await,
            held => held,
        }
    }
}

async fn holders_by(of: &TableFiles, bucket: i32) -> Result<Vec<Holder>, LakeError> {
    let TableFiles { table, storage, files } = of;
    let (table, partition) = (*table, bucket.to_string());
    let of_bucket = |file: &&DataFile| file.partition.as_ref() == Some(&partition);
    let files: Vec<DataFile> = files.iter().filter(of_bucket).cloned().collect();
    let bytes = read(storage, table, &files).await?;
    compute(move || {
        let columns = (table != TableName::Brands).then_some(&["store", "brand_slug"][..]);
        let wanted = Scan { stores: None, columns };
        let mut held: BTreeMap<StoreHost, BrandSlug> = BTreeMap::new();
        for batch in load(table, bytes, wanted)? {
            if table == TableName::Brands {
                let rows = brand_rows(&batch)?.into_iter();
                held.extend(rows.map(|row| (row.brand.store, row.brand.slug)));
                continue;
            }
            let columns = Columns::new(table, &batch);
            let (store, slug) = (columns.text("store")?, columns.text("brand_slug")?);
            for rows in store_runs(store) {
                let holder = columns.parse("store", store.value(rows.start))?;
                held.insert(holder, columns.parse("brand_slug", slug.value(rows.start))?);
            }
        }
        Ok(held.into_iter().collect())
    })
    .await
}
