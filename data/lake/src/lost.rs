//! Data files that are gone or can be read no more: whom that concerns, and when they can be done without.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use data_model::{BrandSlug, StoreHost};
use data_storage::Storage;

use crate::apply::{compute, read};
use crate::delta::{DataFile, Table};
use crate::files::Wanted;
use crate::replace::load;
use crate::rows::brands::brand_rows;
use crate::{LakeError, TableName};

/// What a tick makes of data files that are lost.
#[derive(Debug, Clone)]
pub(crate) struct Losses {
    /// Whether to do without a file all of whose rows the tick replaces or drops.
    spare: bool,
    /// Those of `brands`, which tell whose rows a bucket holds: that table is committed last.
    storage: Storage,
    files: Arc<Vec<DataFile>>,
}

impl Losses {
    pub(crate) fn new(lake: &Storage, tables: &BTreeMap<TableName, Table>, spare: bool) -> Self {
        let files = tables.get(&TableName::Brands).map(Table::files).unwrap_or_default();
        Self {
            spare,
            storage: lake.child(TableName::Brands.as_str()),
            files: Arc::new(files),
        }
    }

    /// Comes back where the rows of the file that `error` tells of are not needed, because all of them are of
    /// `replaced` stores.
    ///
    /// # Errors
    /// They are needed, or it is not this file that failed.
    pub(crate) async fn bear(
        &self,
        bucket: i32,
        replaced: &BTreeSet<StoreHost>,
        error: LakeError,
    ) -> Result<(), LakeError> {
        let Some(path) = lost_file(&error).map(str::to_owned) else {
            return Err(error);
        };
        let held = self.brands_in(bucket).await;
        let all_replaced = |held: &Vec<(StoreHost, BrandSlug)>| held.iter().all(|(store, _)| replaced.contains(store));
        if self.spare && held.as_ref().is_ok_and(all_replaced) {
            tracing::warn!(
                path,
                "a file is missing or damaged; nothing that it held is needed any more"
            );
            return Ok(());
        }
        Err(LakeError::Lost {
            path,
            // Where that table is damaged too, nobody can tell.
            brands: held.unwrap_or_default(),
            source: Box::new(error),
        })
    }

    async fn brands_in(&self, bucket: i32) -> Result<Vec<(StoreHost, BrandSlug)>, LakeError> {
        let bucket = bucket.to_string();
        let of_bucket = |file: &&DataFile| file.partition.as_ref() == Some(&bucket);
        let files: Vec<DataFile> = self.files.iter().filter(of_bucket).cloned().collect();
        let bytes = read(&self.storage, TableName::Brands, &files).await?;
        compute(move || {
            let mut brands = Vec::new();
            for batch in load(TableName::Brands, bytes, Wanted::default())? {
                let rows = brand_rows(&batch)?.into_iter();
                brands.extend(rows.map(|row| (row.brand.store, row.brand.slug)));
            }
            Ok(brands)
        })
        .await
    }
}

/// The file, if it is one that is lost, and not the storage that fails.
fn lost_file(error: &LakeError) -> Option<&str> {
    match error {
        LakeError::File {
            path,
            source: object_store::Error::NotFound { .. },
        }
        | LakeError::Parquet { path, .. } => Some(path),
        _ => None,
    }
}
