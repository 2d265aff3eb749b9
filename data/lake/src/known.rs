//! What the lake has of stores before a tick changes them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use arrow::record_batch::RecordBatch;
use data_model::{StoreHost, Timestamp};
use data_storage::Storage;
use futures::future::try_join_all;

use crate::apply::{compute, read};
use crate::delta::{DataFile, Table};
use crate::files::Wanted;
use crate::lake::State;
use crate::lost::{Losses, lost_file};
use crate::plan::{self, by_bucket};
use crate::replace::{load, store_runs};
use crate::rows::brands::brand_rows;
use crate::rows::columns::Columns;
use crate::rows::history::Offered;
use crate::rows::product_history::{Listed, READ};
use crate::{Lake, LakeError, TableName};

/// What `brands` says of a store that the committer needs.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    /// Hash of its content; empty where it is not known, which no content has.
    pub(crate) hash: String,
    /// End of the crawl that brought that content.
    pub(crate) refreshed_at: Option<Timestamp>,
}

/// What stores had before a tick, by their names.
#[derive(Debug, Default)]
pub(crate) struct Before {
    pub(crate) offered: HashMap<String, Offered>,
    pub(crate) listed: HashMap<String, Listed>,
}

/// The files of a table by bucket.
type Files = BTreeMap<i32, Vec<DataFile>>;

impl Lake {
    /// What each of `stores` had. Where a file is lost and all of its rows are of `stores`, the histories tell instead.
    pub(crate) async fn before(
        &self,
        state: &mut State,
        stores: &BTreeSet<StoreHost>,
        stored: &HashMap<StoreHost, Stored>,
    ) -> Result<Before, LakeError> {
        let buckets = by_bucket(stores, self.inner.config.buckets);
        let tables = self.tables(state).await?;
        let losses = Losses::new(&self.inner.storage, tables);
        let of = |name: TableName| (name, self.inner.storage.child(name.as_str()), losses.clone());
        let variants = files_of(tables.get(&TableName::Variants), &buckets);
        let products = files_of(tables.get(&TableName::Products), &buckets);
        let offered = each_bucket(of(TableName::Variants), variants, &buckets, plan::offered);
        let listed = each_bucket(of(TableName::Products), products, &buckets, listed);
        let ((offered, lost), (listed, unlisted)) = futures::try_join!(offered, listed)?;
        let mut before = Before { offered, listed };
        if !lost.is_empty() {
            self.offered_by_history(&lost, &mut before.offered).await?;
        }
        if !unlisted.is_empty() {
            self.listed_by_history(&unlisted, &mut before.listed).await?;
        }
        for (store, known) in stored {
            if let Some(listed) = before.listed.get_mut(store.as_str()) {
                listed.refreshed_at = known.refreshed_at;
            }
        }
        Ok(before)
    }

    /// What the lake knows of those of the stores that are in it.
    pub(crate) async fn stored(
        &self,
        state: &mut State,
        stores: &BTreeSet<StoreHost>,
    ) -> Result<HashMap<StoreHost, Stored>, LakeError> {
        let buckets = by_bucket(stores, self.inner.config.buckets);
        let mut known = std::mem::take(&mut state.brands);
        let tables = self.tables(state).await?;
        let losses = Losses::new(&self.inner.storage, tables);
        let Some(table) = tables.get(&TableName::Brands) else {
            return Ok(HashMap::new());
        };
        let (mut found, mut brands_by_file) = (HashMap::new(), HashMap::new());
        for file in table.files() {
            let path = file.path.to_string();
            let bucket = bucket_of(&file).filter(|bucket| buckets.contains_key(bucket));
            let brands = match (known.remove(&path), bucket) {
                (Some(brands), _) => Some(brands),
                (None, None) => continue,
                (None, Some(bucket)) => match brands_in(table, &file).await {
                    Ok(brands) => Some(brands),
                    Err(error) if lost_file(&error).is_some() => {
                        let unknown = Stored {
                            hash: String::new(),
                            refreshed_at: None,
                        };
                        let held = losses.holders(bucket).await.unwrap_or_default().into_iter();
                        found.extend(held.map(|(store, _)| (store, unknown.clone())));
                        None
                    }
                    Err(error) => return Err(error),
                },
            };
            let Some(brands) = brands else { continue };
            for store in stores {
                if let Some(stored) = brands.get(store) {
                    found.insert(store.clone(), stored.clone());
                }
            }
            brands_by_file.insert(path, brands);
        }
        found.retain(|store, _| stores.contains(store));
        state.brands = brands_by_file;
        Ok(found)
    }

    /// Notes of each store that lists products which were not listed before those that were gone at some time.
    pub(crate) async fn note_gone(
        &self,
        state: &mut State,
        new: &BTreeSet<StoreHost>,
        listed: &mut HashMap<String, Listed>,
    ) -> Result<(), LakeError> {
        if new.is_empty() {
            return Ok(());
        }
        let mut known = std::mem::take(&mut state.gone);
        let Some(table) = self.tables(state).await?.get(&TableName::ProductHistory) else {
            return Ok(());
        };
        let mut gone = HashMap::new();
        for file in table.files() {
            if file.partition.as_deref() != Some("gone") {
                continue;
            }
            let path = file.path.to_string();
            let ids = match known.remove(&path) {
                Some(ids) => ids,
                None => match gone_in(table, &file).await {
                    Err(error) if lost_file(&error).is_some() => {
                        tracing::warn!(path, "which products were gone before is not known");
                        continue;
                    }
                    ids => ids?,
                },
            };
            for store in new {
                if let Some(ids) = ids.get(store.as_str()) {
                    listed.entry(store.to_string()).or_default().gone.extend(ids);
                }
            }
            gone.insert(path, ids);
        }
        state.gone = gone;
        Ok(())
    }
}

async fn brands_in(table: &Table, file: &DataFile) -> Result<HashMap<StoreHost, Stored>, LakeError> {
    let bytes = read(&table.storage, table.name, std::slice::from_ref(file)).await?;
    let mut brands = HashMap::new();
    for batch in load(TableName::Brands, bytes, Wanted::default())? {
        brands.extend(brand_rows(&batch)?.into_iter().map(|row| {
            let stored = Stored {
                hash: row.catalogue_hash,
                refreshed_at: Some(row.refreshed_at),
            };
            (row.brand.store, stored)
        }));
    }
    Ok(brands)
}

/// The products that a file of `product_history` says are gone, by store.
async fn gone_in(table: &Table, file: &DataFile) -> Result<HashMap<String, HashSet<u64>>, LakeError> {
    let bytes = read(&table.storage, table.name, std::slice::from_ref(file)).await?;
    compute(move || {
        let wanted = Wanted {
            stores: None,
            columns: Some(&["store", "platform_product_id"]),
        };
        let mut gone: HashMap<String, HashSet<u64>> = HashMap::new();
        for batch in load(TableName::ProductHistory, bytes, wanted)? {
            let columns = Columns::new(TableName::ProductHistory, &batch);
            let (store, product) = (columns.text("store")?, columns.int("platform_product_id")?);
            for rows in store_runs(store) {
                let ids = gone.entry(store.value(rows.start).to_owned()).or_default();
                ids.extend(product.values()[rows].iter().map(|id| id.cast_unsigned()));
            }
        }
        Ok(gone)
    })
    .await
}

fn bucket_of(file: &DataFile) -> Option<i32> {
    file.partition.as_deref().and_then(|bucket| bucket.parse().ok())
}

fn files_of(table: Option<&Table>, buckets: &BTreeMap<i32, BTreeSet<StoreHost>>) -> Files {
    let mut files = Files::new();
    for file in table.map(Table::files).unwrap_or_default() {
        if let Some(bucket) = bucket_of(&file).filter(|bucket| buckets.contains_key(bucket)) {
            files.entry(bucket).or_default().push(file);
        }
    }
    files
}

/// Reads what these stores had out of a bucket's files, which are given with their paths.
type Decode<T> = fn(Vec<(String, bytes::Bytes)>, &BTreeSet<StoreHost>) -> Result<HashMap<String, T>, LakeError>;

/// Reads what stores had, bucket by bucket; beside it, the stores whose files are lost and not needed, with their slugs.
async fn each_bucket<T: Send + 'static>(
    (table, storage, losses): (TableName, Storage, Losses),
    files: Files,
    buckets: &BTreeMap<i32, BTreeSet<StoreHost>>,
    decode: Decode<T>,
) -> Result<(HashMap<String, T>, BTreeMap<StoreHost, String>), LakeError> {
    let of_bucket = files.into_iter().map(|(bucket, files)| {
        let stores = buckets.get(&bucket).cloned().unwrap_or_default();
        let (storage, losses) = (storage.clone(), losses.clone());
        async move {
            let known = match read(&storage, table, &files).await {
                Ok(bytes) => {
                    let stores = stores.clone();
                    compute(move || decode(bytes, &stores)).await
                }
                Err(error) => Err(error),
            };
            match known {
                Ok(known) => Ok((known, Vec::new())),
                Err(error) => losses
                    .bear(bucket, &stores, error)
                    .await
                    .map(|lost| (HashMap::new(), lost)),
            }
        }
    });
    let (mut all, mut lost) = (HashMap::new(), BTreeMap::new());
    for (known, unknown) in try_join_all(of_bucket).await? {
        all.extend(known);
        lost.extend(unknown.into_iter().map(|(store, slug)| (store, slug.to_string())));
    }
    Ok((all, lost))
}

/// What each of `stores` listed, by the files of `products` that hold them.
fn listed(
    files: Vec<(String, bytes::Bytes)>,
    stores: &BTreeSet<StoreHost>,
) -> Result<HashMap<String, Listed>, LakeError> {
    let wanted = Wanted {
        stores: Some(stores),
        columns: Some(READ),
    };
    by_store(&load(TableName::Products, files, wanted)?, stores)
}

/// Rows of `products` by store.
pub(crate) fn by_store(
    batches: &[RecordBatch],
    stores: &BTreeSet<StoreHost>,
) -> Result<HashMap<String, Listed>, LakeError> {
    let names: HashSet<&str> = stores.iter().map(StoreHost::as_str).collect();
    let mut listed: HashMap<String, Listed> = HashMap::with_capacity(stores.len());
    for batch in batches {
        let store = Columns::new(TableName::Products, batch).text("store")?;
        for rows in store_runs(store) {
            let name = store.value(rows.start);
            if names.contains(name) {
                listed.entry(name.to_owned()).or_default().add(batch, rows)?;
            }
        }
    }
    Ok(listed)
}
