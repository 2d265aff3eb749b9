//! Brands whose rows are damaged: how they are found, and what the histories still tell of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use arrow::array::{Array, ArrayRef, Int64Array, StringArray};
use arrow::compute::interleave;
use arrow::datatypes::Schema;
use arrow::record_batch::RecordBatch;
use async_recursion::async_recursion as boxed;
use data_model::StoreHost;
use data_storage::{ObjectPath, Storage, StorageError};
use futures::{StreamExt, TryStreamExt};
use object_store::ObjectStore;

use crate::apply::{compute, read};
use crate::delta::{DataFile, data_files};
use crate::files::{Decoder, Wanted};
use crate::lost::{Losses, lost_file};
use crate::prior::by_store;
use crate::replace::load;
use crate::rows::columns::Columns;
use crate::rows::id_from_column;
use crate::rows::offers::StoreOffers;
use crate::rows::product_history::{ListedProducts, READ};
use crate::{Lake, LakeError, TableName};

/// Files that are read at the same time.
const READS_AT_ONCE: usize = 8;

impl Lake {
    /// Looks at the data files of the tables that crawls replace, and remembers the stores whose rows lie in one that is
    /// missing or damaged: a commit that has all stores of such a file writes it anew, whether or not their content
    /// changed. No crawl writes files of the delivery matrix and of review apps, and nobody those of append-only tables
    /// again: they stay as they are.
    ///
    /// A `thorough` search reads every file. Else one list a table tells which are missing or of another size, and
    /// those alone are read that [`Lake::note_damage`] noted.
    ///
    /// # Errors
    /// The storage fails, or a table's log cannot be read.
    #[boxed]
    pub async fn find_damage(&self, thorough: bool) -> Result<BTreeSet<StoreHost>, LakeError> {
        let mut state = self.state().await;
        self.recover(&mut state).await?;
        let tables = self.tables(&mut state).await?;
        let losses = Losses::new(&self.inner.storage, tables);
        let crawled = tables.values().filter(|table| {
            let is_of_no_crawl = TableName::DELIVERY.contains(&table.name) || TableName::WIDGETS.contains(&table.name);
            TableName::CURRENT.contains(&table.name) && !is_of_no_crawl
        });
        let files: Vec<(TableName, Storage, DataFile)> = crawled
            .flat_map(|table| {
                let of_table = |file| (table.name, table.storage.clone(), file);
                table.files().into_iter().map(of_table)
            })
            .collect();
        let noted = self.noted_damage().await?;
        let files = if thorough {
            files
        } else {
            suspects(files, &noted).await?
        };
        let looks = futures::stream::iter(files.into_iter().map(|(table, storage, file)| async move {
            match read_whole(&storage, table, &file).await {
                Err(error) if lost_file(&error).is_some() => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "a file is missing or damaged");
                    Ok(file.partition.and_then(|bucket| bucket.parse::<i32>().ok()))
                }
                looked => looked.map(|()| None),
            }
        }));
        let buckets: Vec<Option<i32>> = looks.buffer_unordered(READS_AT_ONCE).try_collect().await?;
        let buckets_are_whole = buckets.iter().all(Option::is_none);
        let mut damaged = BTreeSet::new();
        for bucket in buckets.into_iter().flatten().collect::<BTreeSet<i32>>() {
            match losses.holders(bucket).await {
                Ok(held) => damaged.extend(held.into_iter().map(|(store, _)| store)),
                // The owners of the rows cannot be told: a commit says so too.
                Err(error) if lost_file(&error).is_some() => {}
                Err(error) => return Err(error),
            }
        }
        if buckets_are_whole && !noted.is_empty() {
            self.forget_damage().await?;
        }
        state.damaged.clone_from(&damaged);
        Ok(damaged)
    }

    /// Adds the offers of stores, by the last row of `price_history` of each variant.
    pub(crate) async fn offered_by_history(
        &self,
        stores: &BTreeMap<StoreHost, String>,
        offered: &mut HashMap<String, StoreOffers>,
    ) -> Result<(), LakeError> {
        let names: BTreeSet<StoreHost> = stores.keys().cloned().collect();
        let histories = self.snapshot().await?.price_history(&names).await;
        let Some(histories) = known(histories)? else {
            return Ok(());
        };
        for (store, history) in histories {
            let slug = stores.get(&store).map(String::as_str).unwrap_or_default();
            offered.insert(store.to_string(), StoreOffers::of_history(slug, &history));
        }
        Ok(())
    }

    /// Adds the products that stores listed, by the last row of `product_history` of each.
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
            let read = read(&storage, TABLE, std::slice::from_ref(&file)).await;
            let Some(bytes) = known(read)? else { return Ok(()) };
            let names = names.clone();
            let rows = compute(move || {
                let wanted = Wanted {
                    stores: Some(&names),
                    columns: None,
                };
                load(TABLE, bytes, wanted)
            });
            batches.extend(rows.await?.into_iter().map(|rows| (is_gone, rows)));
        }
        let present = compute(move || present(&batches)).await?;
        listed.extend(by_store(&present, &names)?);
        Ok(())
    }
}

/// The files that are missing, of another size than the log says, or noted as damaged.
async fn suspects(
    files: Vec<(TableName, Storage, DataFile)>,
    noted: &BTreeSet<String>,
) -> Result<Vec<(TableName, Storage, DataFile)>, LakeError> {
    let mut sizes: BTreeMap<TableName, HashMap<ObjectPath, u64>> = BTreeMap::new();
    for (table, storage, _) in &files {
        if sizes.contains_key(table) {
            continue;
        }
        let listed = storage.store().list(None).map_ok(|meta| (meta.location, meta.size));
        let listed: Result<HashMap<ObjectPath, u64>, _> = listed.try_collect().await;
        let listed = listed.map_err(|source| StorageError::List {
            prefix: table.to_string(),
            source,
        })?;
        sizes.insert(*table, listed);
    }
    let is_suspect = |(table, _, file): &(TableName, Storage, DataFile)| {
        let size = sizes.get(table).and_then(|sizes| sizes.get(&file.path));
        size != Some(&file.size) || noted.contains(&format!("{table}/{}", file.path))
    };
    Ok(files.into_iter().filter(is_suspect).collect())
}

/// `None` where what would tell is lost too: then the brand begins anew in its history.
fn known<T>(read: Result<T, LakeError>) -> Result<Option<T>, LakeError> {
    match read {
        Err(error) if lost_file(&error).is_some() => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "what a brand had before is not known: its history begins anew");
            Ok(None)
        }
        read => read.map(Some),
    }
}

/// The last rows of the products that are not gone, with the columns [`READ`] of `products`.
fn present(batches: &[(bool, RecordBatch)]) -> Result<Vec<RecordBatch>, LakeError> {
    /// Tick, and whether it is gone since, and where the row stands.
    type LastRow = (i64, bool, (usize, usize));
    let mut last: BTreeMap<(&str, u64), LastRow> = BTreeMap::new();
    for (index, (is_gone, batch)) in batches.iter().enumerate() {
        let columns = Columns::new(TableName::ProductHistory, batch);
        let store: &StringArray = columns.text("store")?;
        let (product, tick): (&Int64Array, &Int64Array) = (columns.int("platform_product_id")?, columns.int("tick")?);
        for row in 0..batch.num_rows() {
            let found = (tick.value(row), *is_gone, (index, row));
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
    let failed = |source| LakeError::Columns {
        table: TableName::ProductHistory.as_str(),
        source,
    };
    let (mut fields, mut columns): (Vec<arrow::datatypes::FieldRef>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for name in READ {
        let parts: Vec<&dyn Array> = batches
            .iter()
            .filter_map(|(_, batch)| batch.column_by_name(name).map(|column| &**column))
            .collect();
        columns.push(interleave(&parts, &places).map_err(failed)?);
        let schema = &TableName::ProductHistory.spec().schema;
        fields.push(std::sync::Arc::new(
            schema.field_with_name(name).map_err(failed)?.clone(),
        ));
    }
    let batch = RecordBatch::try_new(std::sync::Arc::new(Schema::new(fields)), columns);
    Ok(vec![batch.map_err(failed)?])
}

/// Reads a data file from end to end: its bytes, where the log has their SHA-256, else its rows.
pub(crate) async fn read_whole(storage: &Storage, table: TableName, file: &DataFile) -> Result<(), LakeError> {
    let is_hashed = file.sha256().is_some();
    let files = read(storage, table, std::slice::from_ref(file)).await?;
    if is_hashed {
        return Ok(());
    }
    compute(move || {
        for (path, bytes) in files {
            for batch in Decoder::new(table, &path, bytes, Wanted::default())? {
                batch?;
            }
        }
        Ok(())
    })
    .await
}
