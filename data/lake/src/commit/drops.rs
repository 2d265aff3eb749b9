//! Removes the files that a commit batch names from a table. A repair names lost files. It marks the brands with rows
//! in them, so that their next crawl rewrites these brands even with the same content.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray};
use arrow::record_batch::RecordBatch;
use data_model::{StoreHost, Timestamp};
use deltalake::kernel::Action;

use crate::delta::{Table, add, read};
use crate::error::unfit_columns;
use crate::files::{Scan, by_bucket, compute, encode, load, write};
use crate::rows::columns::Columns;
use crate::ticks::TickRecord;
use crate::{LakeError, TableName};

/// Adds the removals in the table to `actions`.
pub(crate) async fn drops(
    table: &Table,
    record: &TickRecord,
    buckets: u32,
    now: Timestamp,
    actions: &mut Vec<Action>,
) -> Result<(), LakeError> {
    // Readers that follow an append-only table as a stream must not see rows being removed.
    let data_change = !table.name.spec().append_only;
    let dropped: BTreeSet<&str> = record
        .dropped
        .get(table.name.as_str())
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let files = table.files();
    let is_dropped = |path: &object_store::path::Path| dropped.contains(path.as_ref());
    let gone = files.iter().filter(|file| is_dropped(&file.path));
    actions.extend(gone.map(|file| file.remove(data_change, now)));
    if table.name != TableName::Brands {
        return Ok(());
    }
    let marked = by_bucket(&record.stores, buckets);
    for file in files.iter().filter(|file| !is_dropped(&file.path)) {
        let bucket = file.partition.as_deref().and_then(|bucket| bucket.parse().ok());
        let Some(stores) = bucket.and_then(|bucket: i32| marked.get(&bucket)).cloned() else {
            continue;
        };
        let bytes = read(&table.storage, table.name, std::slice::from_ref(file)).await?;
        let encoded = compute(move || {
            let rows = load(TableName::Brands, bytes, &Scan::default())?;
            let rows: Vec<RecordBatch> = rows.iter().map(|rows| mark(rows, &stores)).collect::<Result<_, _>>()?;
            encode(TableName::Brands, &rows)
        });
        let encoded = encoded.await?;
        let path = write(&table.storage, table.name, file.partition.as_deref(), &encoded).await?;
        actions.push(file.remove(true, now));
        actions.push(add(table.name, &path, file.partition.as_deref(), &encoded, now, true));
    }
    Ok(())
}

/// Clears the content hash in the rows of `stores`. No content has an empty hash, so that the next crawl is a change.
fn mark(rows: &RecordBatch, stores: &BTreeSet<StoreHost>) -> Result<RecordBatch, LakeError> {
    const HASH: &str = "catalogue_hash";
    let columns = Columns::new(TableName::Brands, rows);
    let (store, hash) = (columns.text("store")?, columns.text(HASH)?);
    let is_marked = |name: Option<&str>| name.is_some_and(|name| stores.iter().any(|store| store.as_str() == name));
    let marked: StringArray = store
        .iter()
        .zip(hash)
        .map(|(name, hash)| if is_marked(name) { Some("") } else { hash })
        .collect();
    let failed = unfit_columns(TableName::Brands);
    let at = rows.schema().index_of(HASH).map_err(failed)?;
    let mut columns: Vec<ArrayRef> = rows.columns().to_vec();
    columns[at] = Arc::new(marked);
    RecordBatch::try_new(rows.schema(), columns).map_err(failed)
}
