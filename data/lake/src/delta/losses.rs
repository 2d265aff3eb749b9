//! Missing or damaged data files: the brands that they affect, and the cases in which they are not needed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use data_model::{BrandSlug, StoreHost};
use data_storage::Storage;

use super::read::scan;
use super::table::{DataFile, Table};
use crate::error::lost_file;
use crate::files::Scan;
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
    let held = if table == TableName::Brands {
        scan(storage, table, &files, Scan::default(), |batch| {
            let rows = brand_rows(batch)?.into_iter();
            Ok(rows.map(|row| (row.brand.store, row.brand.slug)).collect())
        })
        .await?
    } else {
        let wanted = Scan::default().columns(&["store", "brand_slug"]);
        scan(storage, table, &files, wanted, move |batch| {
            let columns = Columns::new(table, batch);
            let (store, slug) = (columns.text("store")?, columns.text("brand_slug")?);
            let holder = |rows: Range<usize>| {
                let holder = columns.parse("store", store.value(rows.start))?;
                Ok((holder, columns.parse("brand_slug", slug.value(rows.start))?))
            };
            store_runs(store).into_iter().map(holder).collect()
        })
        .await?
    };
    Ok(BTreeMap::from_iter(held).into_iter().collect())
}
