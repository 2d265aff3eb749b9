//! Checks that the listed files of a snapshot contain exactly its rows, for readers that only know Parquet.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use crate::support::*;
use bytes::Bytes;
use data_lake::{AsOf, Lake, LakeSnapshot, LiveTable, TableName};
use data_storage::{ObjectStoreExt, Storage};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

async fn live(snapshot: &LakeSnapshot) -> Vec<LiveTable> {
    let mut tables = Vec::new();
    for table in TableName::ALL {
        tables.push(snapshot.live_files(table).await.unwrap());
    }
    tables
}

fn reader(bytes: Bytes) -> ParquetRecordBatchReaderBuilder<Bytes> {
    ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap()
}

/// A Parquet reader must find the same rows in each table's files as SQL in the table.
async fn same_rows(lake: &Lake, storage: &Storage, snapshot: &LakeSnapshot) {
    let session = lake.session(snapshot).await.unwrap();
    for table in live(snapshot).await {
        let mut rows = 0;
        for file in &table.files {
            let bytes = storage.store().get(&file.path).await.unwrap().bytes().await.unwrap();
            assert_eq!(bytes.len() as u64, file.bytes, "{}", file.path);
            let found = reader(bytes).metadata().file_metadata().num_rows().cast_unsigned();
            assert_eq!(file.rows, Some(found), "{}", file.path);
            rows += found;
            // The folder name contains the value of the partition column, which the file lacks.
            if let (Some(column), Some(value)) = (table.partition, &file.partition) {
                let folder = format!("{}/{}={value}/", table.table, column.name);
                assert!(file.path.as_ref().starts_with(&folder), "{}", file.path);
                assert!(file.url.as_str().contains(&folder), "{}", file.url);
            }
        }
        let name = table.table.as_str();
        let expected = session.table(name).await.unwrap().count().await.unwrap() as u64;
        assert_eq!((rows, table.is_plain()), (expected, true), "{name}");
    }
}

#[tokio::test]
async fn the_files_of_every_state_hold_its_rows_and_no_others() {
    let storage = Storage::memory();
    let lake = open(&storage, &midnight()).await;
    lake.commit(first(), run(1)).await.unwrap();
    lake.commit(second(), run(2)).await.unwrap();
    lake.compact(false).await.unwrap();
    for tick in 0..=3 {
        let snapshot = lake.snapshot_at(&AsOf::Tick(tick)).await.unwrap();
        same_rows(&lake, &storage, &snapshot).await;
    }
    let now = lake.snapshot().await.unwrap();
    let products = now.live_files(TableName::Products).await.unwrap();
    let listed = objects(&storage).await;
    let on_disk = listed
        .keys()
        .filter(|path| path.starts_with("products/bucket=") && path.ends_with(".parquet"));
    // The old files still exist for readers of earlier states, but are not listed.
    assert!(on_disk.count() > products.files.len());
}

#[tokio::test]
async fn a_file_without_rows_tells_every_column_of_the_files() {
    let storage = Storage::memory();
    let lake = open(&storage, &midnight()).await;
    lake.commit(first(), run(1)).await.unwrap();
    let snapshot = lake.snapshot().await.unwrap();
    let session = lake.session(&snapshot).await.unwrap();
    for table in live(&snapshot).await {
        let name = table.table.as_str();
        let empty = reader(table.empty_file().unwrap());
        assert_eq!(empty.metadata().file_metadata().num_rows(), 0, "{name}");
        let mut columns: Vec<String> = empty
            .schema()
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect();
        columns.extend(table.partition.map(|column| column.name.to_owned()));
        let frame = session.table(name).await.unwrap();
        let mut expected: Vec<String> = frame
            .schema()
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect();
        columns.sort();
        expected.sort();
        assert_eq!(columns, expected, "{name}");
        // All files of a table have one schema, even without rows.
        if let Some(file) = table.files.first() {
            let bytes = storage.store().get(&file.path).await.unwrap().bytes().await.unwrap();
            assert_eq!(reader(bytes).schema().fields(), empty.schema().fields(), "{name}");
        }
    }
}
