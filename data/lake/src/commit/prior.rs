//! Reads the content of stores in the lake before a commit batch changes it.

mod history;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use data_model::{BrandSlug, StoreHost, Timestamp};
use futures::{StreamExt, TryStreamExt};

use crate::delta::{DataFile, Losses, Table, read, scan};
use crate::error::lost_file;
use crate::files::{FileBytes, Scan, by_bucket, compute, load};
use crate::lake::State;
use crate::rows::brands::{BrandRow, BrandState, brand_rows};
use crate::rows::columns::{Columns, store_runs};
use crate::rows::live::StoreLive;
use crate::rows::offers::StoreOffers;
use crate::rows::product_history::{ListedProducts, READ};
use crate::{Lake, LakeError, TableName};

#[derive(Debug, Default)]
pub(crate) struct PriorCatalogues {
    pub(crate) offered: HashMap<String, StoreOffers>,
    pub(crate) listed: HashMap<String, ListedProducts>,
}

impl Lake {
    /// If a file is lost and all of its rows belong to `stores`, their content is derived from the histories.
    pub(crate) async fn before(
        &self,
        state: &mut State,
        stores: &BTreeSet<StoreHost>,
        stored: &HashMap<StoreHost, BrandState>,
    ) -> Result<PriorCatalogues, LakeError> {
        let buckets = by_bucket(stores, self.inner.config.buckets);
        let tables = self.tables(state).await?;
        let losses = Losses::new(&self.inner.storage, tables);
        let of = |name: TableName| BucketFiles::new(tables.get(&name), &losses, &buckets);
        let all = |files, stores: &BTreeSet<StoreHost>| offered(files, stores, None);
        let offered = each_bucket(of(TableName::Variants), &buckets, all);
        let observed = each_bucket(of(TableName::LivePrices), &buckets, live);
        let listed = each_bucket(of(TableName::Products), &buckets, listed);
        let ((offered, mut lost), (observed, unknown), (listed, mut unlisted)) =
            futures::try_join!(offered, observed, listed)?;
        let mut before = PriorCatalogues { offered, listed };
        lost.extend(unknown);
        // A repair may have dropped the rows of stores without a content hash. The histories still have their content.
        for (store, known) in stored.iter().filter(|(_, known)| known.hash.is_empty()) {
            if !before.offered.contains_key(store.as_str()) {
                lost.insert(store.clone(), known.slug.clone());
            }
            if !before.listed.contains_key(store.as_str()) {
                unlisted.insert(store.clone(), known.slug.clone());
            }
        }
        if !lost.is_empty() {
            self.offered_by_history(&lost, &mut before.offered).await?;
        }
        // The history also has these observations, but does not record that they are newer than the crawl.
        overlay(&mut before.offered, observed, self.inner.clock.now());
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

    /// Reads the live observations of `stores` since the crawls that filled `variants`.
    pub(crate) async fn live(
        &self,
        state: &mut State,
        stores: &BTreeSet<StoreHost>,
    ) -> Result<HashMap<String, StoreLive>, LakeError> {
        const TABLE: TableName = TableName::LivePrices;
        let buckets = by_bucket(stores, self.inner.config.buckets);
        let tables = self.tables(state).await?;
        let losses = Losses::new(&self.inner.storage, tables);
        let of = BucketFiles::new(tables.get(&TABLE), &losses, &buckets);
        let (known, lost) = each_bucket(of, &buckets, live).await?;
        let lost = lost.into_iter().map(|(store, slug)| {
            let nothing = StoreLive {
                brand_slug: slug,
                is_lost: true,
                ..StoreLive::default()
            };
            (store.to_string(), nothing)
        });
        Ok(known.into_iter().chain(lost).collect())
    }

    /// Reads the latest known offers of the requested products by store. `live` is the result of [`Lake::live`] for the
    /// stores.
    pub(crate) async fn newest_offers(
        &self,
        state: &mut State,
        wanted: BTreeMap<StoreHost, HashSet<u64>>,
        mut live: HashMap<String, StoreLive>,
    ) -> Result<HashMap<String, StoreOffers>, LakeError> {
        const TABLE: TableName = TableName::Variants;
        let buckets = by_bucket(wanted.keys(), self.inner.config.buckets);
        let tables = self.tables(state).await?;
        let losses = Losses::new(&self.inner.storage, tables);
        let of = BucketFiles::new(tables.get(&TABLE), &losses, &buckets);
        let unknown = wanted.keys().filter_map(|store| {
            let live = live.get(store.as_str()).filter(|live| live.is_lost)?;
            Some((store.clone(), live.brand_slug.clone()))
        });
        let unknown: BTreeMap<StoreHost, String> = unknown.collect();
        let wanted: Products = wanted
            .into_iter()
            .map(|(store, ids)| (store.to_string(), ids))
            .collect();
        live.retain(|store, _| wanted.contains_key(store));
        let wanted = Arc::new(wanted);
        let decode = move |files, stores: &BTreeSet<StoreHost>| offered(files, stores, Some(&*wanted));
        let (mut offered, mut lost) = each_bucket(of, &buckets, decode).await?;
        lost.extend(unknown);
        if !lost.is_empty() {
            self.offered_by_history(&lost, &mut offered).await?;
        }
        overlay(&mut offered, live, self.inner.clock.now());
        Ok(offered)
    }

    /// Reads the `brands` rows of those stores that are in the lake.
    pub(crate) async fn stored(
        &self,
        state: &mut State,
        stores: &BTreeSet<StoreHost>,
    ) -> Result<HashMap<StoreHost, BrandState>, LakeError> {
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
                        let unknown = |slug: BrandSlug| BrandState {
                            hash: String::new(),
                            slug: slug.to_string(),
                            refreshed_at: None,
                            run: None,
                        };
                        let held = losses.holders(bucket).await.unwrap_or_default().into_iter();
                        found.extend(held.map(|(store, slug)| (store, unknown(slug))));
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

    /// For stores with newly listed products, records which products were gone at some time.
    pub(crate) async fn note_gone(
        &self,
        state: &mut State,
        new: &BTreeSet<StoreHost>,
        listed: &mut HashMap<String, ListedProducts>,
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
                        tracing::warn!(
                            path,
                            "the products that were gone before are unknown, because a file is missing or damaged"
                        );
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

async fn brands_in(table: &Table, file: &DataFile) -> Result<HashMap<StoreHost, BrandState>, LakeError> {
    let files = std::slice::from_ref(file);
    let rows = scan(&table.storage, table.name, files, Scan::default(), brand_rows).await?;
    let stored = |row: BrandRow| {
        let stored = BrandState {
            hash: row.catalogue_hash,
            slug: row.brand.slug.to_string(),
            refreshed_at: Some(row.refreshed_at),
            run: Some(row.refresh_run),
        };
        (row.brand.store, stored)
    };
    Ok(rows.into_iter().map(stored).collect())
}

async fn gone_in(table: &Table, file: &DataFile) -> Result<HashMap<String, HashSet<u64>>, LakeError> {
    let wanted = Scan::default().columns(&["store", "platform_product_id"]);
    let runs = scan(
        &table.storage,
        table.name,
        std::slice::from_ref(file),
        wanted,
        |batch| {
            let columns = Columns::new(TableName::ProductHistory, batch);
            let (store, product) = (columns.text("store")?, columns.int("platform_product_id")?);
            let run = |rows: Range<usize>| {
                let ids = product.values()[rows.clone()].iter();
                (
                    store.value(rows.start).to_owned(),
                    ids.map(|id| id.cast_unsigned()).collect::<Vec<_>>(),
                )
            };
            Ok(store_runs(store).into_iter().map(run).collect())
        },
    );
    let mut gone: HashMap<String, HashSet<u64>> = HashMap::new();
    for (store, ids) in runs.await? {
        gone.entry(store).or_default().extend(ids);
    }
    Ok(gone)
}

fn bucket_of(file: &DataFile) -> Option<i32> {
    file.partition.as_deref().and_then(|bucket| bucket.parse().ok())
}

#[derive(Debug)]
struct BucketFiles<'a> {
    table: Option<&'a Table>,
    losses: &'a Losses,
    files: BTreeMap<i32, Vec<DataFile>>,
}

impl<'a> BucketFiles<'a> {
    fn new(table: Option<&'a Table>, losses: &'a Losses, buckets: &BTreeMap<i32, BTreeSet<StoreHost>>) -> Self {
        let mut files: BTreeMap<i32, Vec<DataFile>> = BTreeMap::new();
        for file in table.map(Table::files).unwrap_or_default() {
            if let Some(bucket) = bucket_of(&file).filter(|bucket| buckets.contains_key(bucket)) {
                files.entry(bucket).or_default().push(file);
            }
        }
        Self { table, losses, files }
    }
}

const BUCKETS_AT_ONCE: usize = 16;

fn overlay(offered: &mut HashMap<String, StoreOffers>, live: HashMap<String, StoreLive>, now: Timestamp) {
    for (store, live) in live {
        let offered = offered.entry(store).or_default();
        if offered.brand_slug.is_empty() {
            offered.brand_slug = live.brand_slug;
        }
        offered.overlay(live.offers, now);
    }
}

/// Reads the content of stores bucket by bucket with `decode`, which gets a bucket's files and their paths. Also
/// returns the stores whose files are lost and not needed, with the slugs of the stores.
async fn each_bucket<T, D>(
    source: BucketFiles<'_>,
    buckets: &BTreeMap<i32, BTreeSet<StoreHost>>,
    decode: D,
) -> Result<(HashMap<String, T>, BTreeMap<StoreHost, String>), LakeError>
where
    T: Send + 'static,
    D: Fn(Vec<FileBytes>, &BTreeSet<StoreHost>) -> Result<HashMap<String, T>, LakeError> + Clone + Send + 'static,
{
    let BucketFiles { table, losses, files } = source;
    let Some(table) = table else {
        return Ok((HashMap::new(), BTreeMap::new()));
    };
    let (table, storage) = (table.name, &table.storage);
    let of_bucket = files.into_iter().map(|(bucket, files)| {
        let stores = buckets.get(&bucket).cloned().unwrap_or_default();
        let (storage, losses, decode) = (storage.clone(), losses.clone(), decode.clone());
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
    let mut read = futures::stream::iter(of_bucket).buffer_unordered(BUCKETS_AT_ONCE);
    while let Some((known, unknown)) = read.try_next().await? {
        all.extend(known);
        lost.extend(unknown.into_iter().map(|(store, slug)| (store, slug.to_string())));
    }
    Ok((all, lost))
}

/// Groups rows by store. `add` adds the rows of one store in a record batch.
pub(crate) fn by_store<T: Default>(
    table: TableName,
    batches: &[RecordBatch],
    mut add: impl FnMut(&mut T, &str, StoreRun<'_>) -> Result<(), LakeError>,
) -> Result<HashMap<String, T>, LakeError> {
    let mut found: HashMap<String, T> = HashMap::new();
    for batch in batches {
        let store = Columns::new(table, batch).text("store")?;
        for rows in store_runs(store) {
            let name = store.value(rows.start);
            add(
                found.entry(name.to_owned()).or_default(),
                name,
                StoreRun { batch, rows },
            )?;
        }
    }
    Ok(found)
}

/// Rows of one store in a record batch.
pub(crate) struct StoreRun<'a> {
    pub(crate) batch: &'a RecordBatch,
    pub(crate) rows: Range<usize>,
}

fn listed(files: Vec<FileBytes>, stores: &BTreeSet<StoreHost>) -> Result<HashMap<String, ListedProducts>, LakeError> {
    const TABLE: TableName = TableName::Products;
    let batches = load(TABLE, files, &Scan::of(stores).columns(READ))?;
    by_store(TABLE, &batches, |listed: &mut ListedProducts, _, run| {
        listed.add(run.batch, run.rows)
    })
}

/// Columns of `variants` whose changes the price history records.
const FOLLOWED: &[&str] = &[
    "store",
    "brand_slug",
    "platform_product_id",
    "variant_id",
    "currency",
    "price_minor",
    "compare_at_minor",
    "available",
];

/// Product ids by store host.
pub(crate) type Products = HashMap<String, HashSet<u64>>;

/// If `products` is set, only the offers of these products are returned.
pub(crate) fn offered(
    files: Vec<FileBytes>,
    stores: &BTreeSet<StoreHost>,
    products: Option<&Products>,
) -> Result<HashMap<String, StoreOffers>, LakeError> {
    const TABLE: TableName = TableName::Variants;
    let batches = load(TABLE, files, &Scan::of(stores).columns(FOLLOWED))?;
    by_store(TABLE, &batches, |offered: &mut StoreOffers, name, run| {
        let of_store = products.map(|products| products.get(name));
        let is_wanted = |product: u64| match of_store {
            Some(products) => products.is_some_and(|products| products.contains(&product)),
            None => true,
        };
        offered.add(run.batch, run.rows, is_wanted)
    })
}

pub(crate) fn live(
    files: Vec<FileBytes>,
    stores: &BTreeSet<StoreHost>,
) -> Result<HashMap<String, StoreLive>, LakeError> {
    const TABLE: TableName = TableName::LivePrices;
    let batches = load(TABLE, files, &Scan::of(stores))?;
    by_store(TABLE, &batches, |live: &mut StoreLive, _, run| {
        live.add(run.batch, run.rows)
    })
}
