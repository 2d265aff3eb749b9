//! Brings a tick's rows into the tables, one commit a table, each at most once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use arrow::array::{Array, Int32Array, StringArray, UInt64Array};
use arrow::compute::take_record_batch;
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use data_model::{StoreHost, Timestamp};
use data_storage::{ObjectPath, Storage};
use deltalake::kernel::Action;
use futures::{StreamExt, TryStreamExt};
use object_store::ObjectStoreExt;
use uuid::Uuid;

use crate::delta::{Committed, DataFile, Table, add, append, overwrite};
use crate::files::{Encoded, encode};
use crate::plan::by_bucket;
use crate::replace::{Replaced, replace};
use crate::rows::runs::run_row;
use crate::tick::{Rows, TickKind, TickRecord};
use crate::{LakeConfig, LakeError, TableName};

/// How many partitions are rewritten at the same time.
const AT_ONCE: usize = 4;

/// Applies a tick to every table that does not have it yet.
pub(crate) async fn apply(
    tables: &mut BTreeMap<TableName, Table>,
    record: &TickRecord,
    rows: Rows,
    config: &Arc<LakeConfig>,
    now: Timestamp,
) -> Result<(), LakeError> {
    let mut rows: HashMap<TableName, Vec<RecordBatch>> = rows.into_iter().collect();
    if record.kind != TickKind::Compact {
        rows.insert(TableName::CrawlRuns, vec![run_row(record)?]);
    }
    for table in TableName::ALL {
        let new = rows.remove(&table).unwrap_or_default();
        let sampled = table == TableName::DeliveryMatrix;
        let kept = match record.kind {
            TickKind::Compact => true,
            // What was sampled by pincode is not part of a crawl; it goes with its brand.
            TickKind::Refresh => sampled,
            TickKind::Delivery => !sampled && table != TableName::CrawlRuns,
            TickKind::Remove => false,
        };
        let Some(table) = tables.get_mut(&table).filter(|_| !kept) else {
            continue;
        };
        apply_to(table, record, &new, config, now).await?;
    }
    Ok(())
}

async fn apply_to(
    table: &mut Table,
    record: &TickRecord,
    new: &[RecordBatch],
    config: &Arc<LakeConfig>,
    now: Timestamp,
) -> Result<(), LakeError> {
    for _ in 0..config.attempts_max.max(1) {
        if table.tick() >= record.tick {
            return Ok(());
        }
        let (actions, operation) = if TableName::CURRENT.contains(&table.name) {
            (
                replacements(table, &record.stores, new, config, now).await?,
                overwrite(table.name),
            )
        } else {
            (additions(table, new, config, now).await?, append(table.name))
        };
        if actions.is_empty() || table.commit(actions, operation, record.tick, now).await? == Committed::Landed {
            return Ok(());
        }
    }
    Err(LakeError::Contended {
        attempts: config.attempts_max,
    })
}

/// Adds one file per partition that the new rows belong to.
async fn additions(
    table: &Table,
    new: &[RecordBatch],
    config: &Arc<LakeConfig>,
    now: Timestamp,
) -> Result<Vec<Action>, LakeError> {
    let mut actions = Vec::new();
    for (partition, rows) in split_by_text(table.name, new)? {
        let (name, config) = (table.name, Arc::clone(config));
        let encoded = compute(move || encode(name, &rows, &config)).await?;
        let path = write(&table.storage, table.name, partition.as_deref(), &encoded).await?;
        actions.push(add(table.name, &path, partition.as_deref(), &encoded, now, true));
    }
    Ok(actions)
}

/// Rewrites the partitions in which the stores' rows change.
async fn replacements(
    table: &Table,
    stores: &[StoreHost],
    new: &[RecordBatch],
    config: &Arc<LakeConfig>,
    now: Timestamp,
) -> Result<Vec<Action>, LakeError> {
    let mut new = split_by_bucket(table.name, new)?;
    let files = table.files();
    let buckets = by_bucket(stores, config.buckets)
        .into_iter()
        .filter_map(|(bucket, stores)| {
            let partition = bucket.to_string();
            let old: Vec<DataFile> = files
                .iter()
                .filter(|file| file.partition.as_deref() == Some(partition.as_str()))
                .cloned()
                .collect();
            let new = new.remove(&bucket).unwrap_or_default();
            // A table like `reviews` has nothing of most stores.
            (!old.is_empty() || !new.is_empty()).then_some((partition, old, new, stores))
        });
    let rewritten = futures::stream::iter(buckets.map(|(partition, old, new, stores)| {
        rewrite(
            table.name,
            table.storage.clone(),
            partition,
            old,
            new,
            stores,
            Arc::clone(config),
            now,
        )
    }));
    let actions: Vec<Vec<Action>> = rewritten.buffered(AT_ONCE).try_collect().await?;
    Ok(actions.into_iter().flatten().collect())
}

#[expect(clippy::too_many_arguments, reason = "a future that borrows nothing")]
async fn rewrite(
    table: TableName,
    storage: Storage,
    partition: String,
    old: Vec<DataFile>,
    new: Vec<RecordBatch>,
    stores: BTreeSet<StoreHost>,
    config: Arc<LakeConfig>,
    now: Timestamp,
) -> Result<Vec<Action>, LakeError> {
    let bytes = read(&storage, table, &old).await?;
    let replaced = compute(move || replace(table, bytes, &stores, &new, &config)).await?;
    let encoded = match replaced {
        Replaced::Unchanged => return Ok(Vec::new()),
        Replaced::Emptied => None,
        Replaced::File(encoded) => Some(encoded),
    };
    let mut actions: Vec<Action> = old.iter().map(|file| file.remove(true, now)).collect();
    if let Some(encoded) = encoded {
        let path = write(&storage, table, Some(&partition), &encoded).await?;
        actions.push(add(table, &path, Some(&partition), &encoded, now, true));
    }
    Ok(actions)
}

/// The bytes of data files.
pub(crate) async fn read(
    storage: &Storage,
    table: TableName,
    files: &[DataFile],
) -> Result<Vec<(String, Bytes)>, LakeError> {
    let mut read = Vec::with_capacity(files.len());
    for file in files {
        let failed = |source| LakeError::File {
            path: format!("{table}/{}", file.path),
            source,
        };
        let bytes = storage
            .store()
            .get(&file.path)
            .await
            .map_err(failed)?
            .bytes()
            .await
            .map_err(failed)?;
        read.push((file.path.to_string(), bytes));
    }
    Ok(read)
}

/// Writes a data file under a name that was never used.
pub(crate) async fn write(
    storage: &Storage,
    table: TableName,
    partition: Option<&str>,
    encoded: &Encoded,
) -> Result<ObjectPath, LakeError> {
    let name = format!("part-00000-{}-c000.zstd.parquet", Uuid::new_v4());
    let path = match (table.spec().partition, partition) {
        (Some(column), Some(partition)) => ObjectPath::from(format!("{column}={partition}/{name}")),
        _ => ObjectPath::from(name),
    };
    let written = storage.store().put(&path, encoded.bytes.clone().into()).await;
    written.map_err(|source| LakeError::File {
        path: format!("{table}/{path}"),
        source,
    })?;
    Ok(path)
}

/// Runs a computation where it does not hold up others.
pub(crate) async fn compute<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LakeError> + Send + 'static,
) -> Result<T, LakeError> {
    tokio::task::spawn_blocking(work).await.map_err(LakeError::Task)?
}

/// Cuts rows, which are sorted by bucket, at the buckets, and drops the column.
fn split_by_bucket(table: TableName, rows: &[RecordBatch]) -> Result<HashMap<i32, Vec<RecordBatch>>, LakeError> {
    let mut parts: HashMap<i32, Vec<RecordBatch>> = HashMap::new();
    for rows in rows {
        let bucket: Option<&Int32Array> = rows.column(0).as_any().downcast_ref();
        let bucket = bucket.ok_or_else(|| LakeError::Value {
            table: table.as_str(),
            column: "bucket",
            value: rows.column(0).data_type().to_string(),
        })?;
        let data = without_partition(table, rows)?;
        let mut start = 0;
        for row in 1..=bucket.len() {
            if row == bucket.len() || bucket.value(row) != bucket.value(start) {
                let part = parts.entry(bucket.value(start)).or_default();
                part.push(data.slice(start, row - start));
                start = row;
            }
        }
    }
    Ok(parts)
}

/// Parts of rows by the text in the partition column, where the table has one.
fn split_by_text(
    table: TableName,
    rows: &[RecordBatch],
) -> Result<BTreeMap<Option<String>, Vec<RecordBatch>>, LakeError> {
    let mut parts: BTreeMap<Option<String>, Vec<RecordBatch>> = BTreeMap::new();
    for rows in rows.iter().filter(|rows| rows.num_rows() > 0) {
        let data = without_partition(table, rows)?;
        let column: Option<&StringArray> = rows.column(0).as_any().downcast_ref();
        let Some(column) = column.filter(|_| table.spec().partition.is_some()) else {
            parts.entry(None).or_default().push(data);
            continue;
        };
        let mut places: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for (row, value) in column.iter().enumerate() {
            places.entry(value.unwrap_or_default()).or_default().push(row as u64);
        }
        for (value, rows) in places {
            let part = if rows.len() == data.num_rows() {
                data.clone()
            } else {
                take_record_batch(&data, &UInt64Array::from(rows)).map_err(|source| LakeError::Columns {
                    table: table.as_str(),
                    source,
                })?
            };
            parts.entry(Some(value.to_owned())).or_default().push(part);
        }
    }
    Ok(parts)
}

fn without_partition(table: TableName, rows: &RecordBatch) -> Result<RecordBatch, LakeError> {
    let first = usize::from(table.spec().partition.is_some());
    RecordBatch::try_new(Arc::clone(&table.spec().file_schema), rows.columns()[first..].to_vec()).map_err(|source| {
        LakeError::Columns {
            table: table.as_str(),
            source,
        }
    })
}
