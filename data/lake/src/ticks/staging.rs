//! Stages the rows of a commit batch until it has ended, so that any process that finds it unfinished can apply them.
//!
//! Rows of the large tables are not written twice: the record names the data files that contain them.

use std::collections::{BTreeMap, BTreeSet};

use arrow::array::{Array, Int32Array};
use arrow::error::ArrowError;
use arrow::ipc::CompressionType;
use arrow::ipc::reader::FileReader;
use arrow::ipc::writer::{FileWriter, IpcWriteOptions};
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use data_model::StoreHost;
use data_storage::{ObjectPath, Storage, get_bytes};
use deltalake::kernel::Action;

use super::record::{PackedRows, Rows, StagedFile, StagedTable, TickKind, TickRecord};
use super::store::staged_path;
use crate::delta::{PreparedActions, SHA256_TAG, Table};
use crate::error::lost_file;
use crate::files::{FileBytes, Scan, compute, load, read_file, with_partition};
use crate::{LakeError, TableName};

/// Tables with most of a crawl's rows.
const LARGE: [TableName; 4] = [
    TableName::Products,
    TableName::Variants,
    TableName::PriceHistory,
    TableName::ProductHistory,
];

/// Encodes a commit batch's rows for staging, except rows in the files of `prepared` and rows that the tables already
/// have. Also returns all rows.
pub(crate) async fn pack(
    record: &TickRecord,
    rows: Rows,
    prepared: &PreparedActions,
) -> Result<(PackedRows, Rows), LakeError> {
    let (tick, mut written) = (record.tick, written(record.kind, prepared));
    compute(move || {
        let (mut bytes, mut staged) = (Vec::new(), Vec::new());
        let any = |batches: &[RecordBatch]| batches.iter().any(|batch| batch.num_rows() > 0);
        for (table, batches) in rows.iter().filter(|(_, batches)| any(batches)) {
            let offset = bytes.len() as u64;
            let (files, same) = match written.remove(table) {
                Some(files) => {
                    let same = same(*table, batches, &files);
                    (files, same)
                }
                None => {
                    encode(batches, &mut bytes).map_err(|source| LakeError::Staged { tick, source })?;
                    (Vec::new(), Vec::new())
                }
            };
            staged.push(StagedTable {
                table: table.as_str().to_owned(),
                offset,
                bytes: bytes.len() as u64 - offset,
                files,
                same,
            });
        }
        let bytes = Bytes::from(bytes);
        Ok((PackedRows { bytes, staged }, rows))
    })
    .await
}

/// Returns the files that contain a commit batch's rows, by table. Only crawls and backfills qualify: files of other
/// batches also have rows of the same stores that the batch did not write.
fn written(kind: TickKind, prepared: &PreparedActions) -> BTreeMap<TableName, Vec<StagedFile>> {
    let file = |action: &Action| {
        let Action::Add(add) = action else { return None };
        Some(StagedFile {
            path: add.path.clone(),
            partition: add.partition_values.values().next().cloned().flatten(),
            sha256: add.tags.as_ref()?.get(SHA256_TAG)?.clone()?,
        })
    };
    let large = LARGE
        .into_iter()
        .filter(|_| matches!(kind, TickKind::Refresh | TickKind::Backfill));
    large
        .filter_map(|table| Some((table, prepared.get(&table)?.actions.iter().filter_map(file).collect())))
        .collect()
}

/// Returns the buckets for which no file was written, because they already have exactly these rows.
fn same(table: TableName, batches: &[RecordBatch], files: &[StagedFile]) -> Vec<i32> {
    let written: BTreeSet<&str> = files.iter().filter_map(|file| file.partition.as_deref()).collect();
    let bucketed = batches.iter().filter(|_| TableName::CURRENT.contains(&table));
    let columns = bucketed.filter_map(|batch| batch.column(0).as_any().downcast_ref::<Int32Array>());
    let runs = columns.flat_map(|column| column.values().chunk_by(|one, other| one == other));
    let buckets: BTreeSet<i32> = runs.filter_map(|run| run.first().copied()).collect();
    let is_written = |bucket: &i32| written.contains(bucket.to_string().as_str());
    buckets.into_iter().filter(|bucket| !is_written(bucket)).collect()
}

/// Returns `true` if the bucket already had the commit batch's rows before the batch began.
pub(crate) fn is_same(record: &TickRecord, table: TableName, bucket: i32) -> bool {
    let of_table = |staged: &&StagedTable| staged.table == table.as_str();
    record
        .staged
        .iter()
        .filter(of_table)
        .any(|staged| staged.same.contains(&bucket))
}

/// Files of tables that already have the commit batch are not read, because they may be lost by now.
pub(crate) async fn staged(
    lake: &Storage,
    record: &TickRecord,
    tables: &BTreeMap<TableName, Table>,
) -> Result<Rows, LakeError> {
    let damaged = |message: &str| LakeError::Staged {
        tick: record.tick,
        source: ArrowError::IpcError(message.to_owned()),
    };
    let bytes = if record.staged.iter().any(|staged| staged.bytes > 0) {
        let path = staged_path(record.tick, &record.token);
        let bytes = get_bytes(&lake.child("_ticks"), &path).await?;
        bytes.ok_or_else(|| damaged("the staged object is missing"))?
    } else {
        Bytes::new()
    };
    let stores: BTreeSet<StoreHost> = record.stores.iter().cloned().collect();
    let mut rows = Vec::with_capacity(record.staged.len());
    for staged in &record.staged {
        let table = TableName::named(&staged.table);
        let table = table.ok_or_else(|| damaged("the name of a staged table is unknown"))?;
        let range = usize::try_from(staged.offset)
            .ok()
            .zip(usize::try_from(staged.offset + staged.bytes).ok());
        let part = range
            .and_then(|(from, to)| bytes.get(from..to))
            .ok_or_else(|| damaged("the staged object is truncated"))?;
        let in_files = !(staged.files.is_empty() && staged.same.is_empty());
        let mut batches = Vec::new();
        if !in_files {
            batches.push(decode(table, part).map_err(|source| LakeError::Staged {
                tick: record.tick,
                source,
            })?);
        }
        let has_tick = tables.get(&table).is_some_and(|table| table.tick() >= record.tick);
        for file in staged.files.iter().filter(|_| !has_tick) {
            match rows_of(lake, table, file, &stores).await {
                Ok(more) => batches.extend(more),
                Err(error) if lost_file(&error).is_some() => return Err(damaged(&error.to_string())),
                Err(error) => return Err(error),
            }
        }
        rows.push((table, batches));
    }
    Ok(rows)
}

/// Returns the rows of these stores in a file, with the partition column restored.
async fn rows_of(
    lake: &Storage,
    table: TableName,
    file: &StagedFile,
    stores: &BTreeSet<StoreHost>,
) -> Result<Vec<RecordBatch>, LakeError> {
    let path = ObjectPath::parse(&file.path).map_err(|_| LakeError::Damaged {
        path: format!("{table}/{}", file.path),
    })?;
    let bytes = read_file(&lake.child(table.as_str()), table, &path, Some(&file.sha256)).await?;
    let (partition, wanted, path) = (file.partition.clone(), Scan::of(stores), file.path.clone());
    compute(move || {
        let batches = load(table, vec![FileBytes { path, bytes }], &wanted)?;
        let whole = |batch: &RecordBatch| with_partition(table, batch, partition.as_deref());
        batches.iter().map(whole).collect()
    })
    .await
}

fn encode(batches: &[RecordBatch], bytes: &mut Vec<u8>) -> Result<(), ArrowError> {
    let Some(first) = batches.first() else { return Ok(()) };
    // These rows are read only if a process dies, and are removed within a second, so that a fast codec is better than
    // a high compression ratio.
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME))?;
    let mut writer = FileWriter::try_new_with_options(bytes, &first.schema(), options)?;
    batches.iter().try_for_each(|batch| writer.write(batch))?;
    writer.finish()
}

fn decode(table: TableName, bytes: &[u8]) -> Result<RecordBatch, ArrowError> {
    let reader = FileReader::try_new(std::io::Cursor::new(bytes), None)?;
    let batches = reader.collect::<Result<Vec<_>, _>>()?;
    arrow::compute::concat_batches(&table.spec().schema, &batches)
}
