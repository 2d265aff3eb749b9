//! What the lake has of stores before a tick changes them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use data_model::StoreHost;
use futures::future::try_join_all;

use crate::apply::{compute, read};
use crate::delta::DataFile;
use crate::lake::State;
use crate::lost::Losses;
use crate::plan::{self, by_bucket};
use crate::rows::brands::brand_rows;
use crate::rows::history::Offered;
use crate::{Lake, LakeError, TableName};

impl Lake {
    /// What each of `stores` offers. With `spare`, one whose rows are lost, and no other's with them, offers nothing.
    pub(crate) async fn offered(
        &self,
        state: &mut State,
        stores: &BTreeSet<StoreHost>,
        spare: bool,
    ) -> Result<HashMap<String, Offered>, LakeError> {
        let buckets = by_bucket(stores, self.inner.config.buckets);
        let tables = self.tables(state).await?;
        let losses = Losses::new(&self.inner.storage, tables, spare);
        let Some(table) = tables.get(&TableName::Variants) else {
            return Ok(HashMap::new());
        };
        let mut files: BTreeMap<i32, Vec<DataFile>> = BTreeMap::new();
        for file in table.files() {
            let bucket = file.partition.as_deref().and_then(|bucket| bucket.parse().ok());
            if let Some(bucket) = bucket.filter(|bucket| buckets.contains_key(bucket)) {
                files.entry(bucket).or_default().push(file);
            }
        }
        let of_bucket = files.into_iter().map(|(bucket, files)| {
            let stores = buckets.get(&bucket).cloned().unwrap_or_default();
            let (storage, losses) = (table.storage.clone(), losses.clone());
            async move {
                let read = read(&storage, TableName::Variants, &files).await;
                let known = match read {
                    Ok(bytes) => {
                        let stores = stores.clone();
                        compute(move || plan::offered(bytes, &stores)).await
                    }
                    Err(error) => Err(error),
                };
                match known {
                    Ok(known) => Ok(known),
                    Err(error) => losses.bear(bucket, &stores, error).await.map(|()| HashMap::new()),
                }
            }
        });
        let offered = try_join_all(of_bucket).await?;
        Ok(offered.into_iter().flatten().collect())
    }

    /// The content hashes of those of the stores that are in the lake.
    pub(crate) async fn stored_hashes(
        &self,
        state: &mut State,
        stores: &BTreeSet<StoreHost>,
    ) -> Result<HashMap<StoreHost, String>, LakeError> {
        let buckets = by_bucket(stores, self.inner.config.buckets);
        let mut known = std::mem::take(&mut state.hashes);
        let Some(table) = self.tables(state).await?.get(&TableName::Brands) else {
            return Ok(HashMap::new());
        };
        let (mut found, mut hashes) = (HashMap::new(), HashMap::new());
        for file in table.files() {
            let path = file.path.to_string();
            let bucket = file.partition.as_deref().and_then(|bucket| bucket.parse().ok());
            let brands = match known.remove(&path) {
                Some(brands) => brands,
                None if bucket.is_none_or(|bucket| !buckets.contains_key(&bucket)) => continue,
                None => {
                    let bytes = read(&table.storage, table.name, std::slice::from_ref(&file)).await?;
                    let mut brands = HashMap::new();
                    for batch in crate::replace::load(TableName::Brands, bytes, crate::files::Wanted::default())? {
                        let rows = brand_rows(&batch)?;
                        brands.extend(rows.into_iter().map(|row| (row.brand.store, row.catalogue_hash)));
                    }
                    brands
                }
            };
            for store in stores {
                if let Some(hash) = brands.get(store) {
                    found.insert(store.clone(), hash.clone());
                }
            }
            hashes.insert(path, brands);
        }
        state.hashes = hashes;
        Ok(found)
    }
}
