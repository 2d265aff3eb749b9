//! Data files: conversion between rows and Parquet.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Date32Array, Int64Array, StringArray, TimestampMicrosecondArray, new_null_array};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use arrow::temporal_conversions::date32_to_datetime;
use bytes::Bytes;
use data_model::{StoreHost, Timestamp};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelection,
};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, PageIndexPolicy, ParquetMetaData, RowGroupMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::config::{ROW_GROUP_ROWS, ZSTD_LEVEL};
use crate::{LakeError, TableName};

/// An encoded file with the metadata that the table's log records.
#[derive(Debug, Clone)]
pub(crate) struct Encoded {
    pub(crate) bytes: Bytes,
    pub(crate) stats: String,
    pub(crate) sha256: String,
}

/// Returns the SHA-256 of a file's bytes in lowercase hex, as in a table's log.
pub(crate) fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Metadata key of files whose rows are in the table's order. Files of other writers lack it.
const SORTED: &str = "haat.sorted";
/// Maximum number of rows, and of values, that are decoded at a time. Batches of rows with long lists have fewer rows.
const BATCH_ROWS: usize = 4096;
const BATCH_VALUES: usize = 1 << 20;

/// Columns whose values are almost all distinct, so that a dictionary would be as large as the column.
const UNIQUE: &[&[&str]] = &[
    &["product_uid"],
    &["variant_id"],
    &["handle"],
    &["title"],
    &["description"],
    &["sku"],
    &["barcode"],
    &["barcode_stated"],
    &["body"],
    &["excerpt"],
    &["created_at"],
    &["published_at"],
    &["updated_at"],
    &["media", "list", "element", "url"],
];
/// Columns that are unique keys in one table and repeat in the others.
const KEYS: &[(TableName, &str)] = &[
    (TableName::Products, "product_id"),
    (TableName::Products, "platform_product_id"),
    (TableName::ProductHistory, "product_id"),
    (TableName::ProductHistory, "platform_product_id"),
];

/// Approximate number of row bytes that are written to a file at a time. For long lists, the encoder's bookkeeping
/// takes many times the size of their items.
const WRITTEN_BYTES: usize = 1 << 20;
/// Number of rows that are written to a file at a time, unless their bytes reach [`WRITTEN_BYTES`]. Each write has a cost
/// for every column, and most stores have few rows.
const WRITTEN_ROWS: usize = 1024;

pub(crate) struct Encoder {
    table: TableName,
    writer: ArrowWriter<Vec<u8>>,
    rows: usize,
    /// Rows that are not written yet.
    waiting: Vec<RecordBatch>,
    waiting_rows: usize,
    waiting_bytes: usize,
    /// Columns of the rows written so far, for each column whose bounds the log records.
    bounded: Vec<Vec<ArrayRef>>,
}

impl Encoder {
    pub(crate) fn new(table: TableName) -> Result<Self, LakeError> {
        let spec = table.spec();
        let level = ZstdLevel::try_new(ZSTD_LEVEL).map_err(|source| new_file(table, source))?;
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .set_statistics_enabled(EnabledStatistics::None)
            .set_key_value_metadata(Some(vec![KeyValue::new(SORTED.to_owned(), "true".to_owned())]));
        for name in &spec.stats {
            properties = properties.set_column_statistics_enabled(ColumnPath::from(*name), EnabledStatistics::Page);
        }
        for path in UNIQUE {
            let path = ColumnPath::new(path.iter().map(|part| (*part).to_owned()).collect());
            properties = properties.set_column_dictionary_enabled(path, false);
        }
        for (_, name) in KEYS.iter().filter(|(of, _)| *of == table) {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(*name), false);
        }
        // The table's log has the column comments.
        let options = parquet::arrow::arrow_writer::ArrowWriterOptions::new()
            .with_properties(properties.build())
            .with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(Vec::new(), Arc::clone(&spec.file_schema), options)
            .map_err(|source| new_file(table, source))?;
        Ok(Self {
            table,
            writer,
            rows: 0,
            waiting: Vec::new(),
            waiting_rows: 0,
            waiting_bytes: 0,
            bounded: vec![Vec::new(); spec.stats.len()],
        })
    }

    /// The rows must follow the previous ones in the table's order.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), LakeError> {
        for (column, name) in self.bounded.iter_mut().zip(&self.table.spec().stats) {
            column.extend(batch.column_by_name(name).cloned());
        }
        let (rows, bytes) = (batch.num_rows(), batch.columns().iter().map(slice_bytes).sum::<usize>());
        let is_enough = |rows: usize, bytes: usize| rows >= WRITTEN_ROWS || bytes >= WRITTEN_BYTES;
        // A large batch is not copied.
        if is_enough(rows, bytes) {
            self.write_waiting()?;
        }
        self.waiting.push(batch.clone());
        self.rows += rows;
        self.waiting_rows += rows;
        self.waiting_bytes += bytes;
        if is_enough(self.waiting_rows, self.waiting_bytes) {
            self.write_waiting()?;
        }
        Ok(())
    }

    fn write_waiting(&mut self) -> Result<(), LakeError> {
        let failed = |source| new_file(self.table, source);
        let batch = match self.waiting.as_slice() {
            [] => return Ok(()),
            [batch] => batch.clone(),
            [first, ..] => {
                let joined = arrow::compute::concat_batches(first.schema_ref(), &self.waiting);
                joined.map_err(|error| failed(error.into()))?
            }
        };
        let rows = batch.num_rows();
        let at_once = (rows.saturating_mul(WRITTEN_BYTES) / self.waiting_bytes.max(1)).clamp(1, rows.max(1));
        (self.waiting_rows, self.waiting_bytes) = (0, 0);
        self.waiting.clear();
        for start in (0..rows).step_by(at_once) {
            let slice = batch.slice(start, at_once.min(rows - start));
            self.writer.write(&slice).map_err(failed)?;
        }
        Ok(())
    }

    /// Returns `None` if there were no rows.
    pub(crate) fn finish_any(self) -> Result<Option<Encoded>, LakeError> {
        if self.rows == 0 {
            Ok(None)
        } else {
            self.finish().map(Some)
        }
    }

    fn finish(mut self) -> Result<Encoded, LakeError> {
        let stats = stats(self.table, self.rows, &self.bounded);
        self.write_waiting()?;
        let bytes = self
            .writer
            .into_inner()
            .map_err(|source| new_file(self.table, source))?;
        Ok(Encoded {
            sha256: digest(&bytes),
            bytes: bytes.into(),
            stats,
        })
    }
}

fn new_file(table: TableName, source: ParquetError) -> LakeError {
    LakeError::Parquet {
        path: format!("a new file of {table}"),
        source,
    }
}

/// Only the rows in the slice count.
fn slice_bytes(column: &ArrayRef) -> usize {
    let data = column.to_data();
    data.get_slice_memory_size()
        .unwrap_or_else(|_| column.get_array_memory_size())
}

/// The rows must be in the table's order.
pub(crate) fn encode(table: TableName, rows: &[RecordBatch]) -> Result<Encoded, LakeError> {
    let mut encoder = Encoder::new(table)?;
    for batch in rows {
        encoder.write(batch)?;
    }
    encoder.finish()
}

/// Returns the file's statistics as JSON for the log: number of rows, and bounds of the table's indexed columns.
fn stats(table: TableName, rows: usize, bounded: &[Vec<ArrayRef>]) -> String {
    let (mut low, mut high, mut nulls) = (Map::new(), Map::new(), Map::new());
    for (name, columns) in table.spec().stats.iter().zip(bounded) {
        nulls.insert(
            (*name).to_owned(),
            json!(columns.iter().map(|column| column.null_count()).sum::<usize>()),
        );
        if let Some((min, max)) = bounds(columns) {
            low.insert((*name).to_owned(), min);
            high.insert((*name).to_owned(), max);
        }
    }
    json!({ "numRecords": rows, "minValues": low, "maxValues": high, "nullCount": nulls }).to_string()
}

fn bounds(columns: &[ArrayRef]) -> Option<(Value, Value)> {
    fn each<A: Array + 'static>(columns: &[ArrayRef]) -> impl Iterator<Item = &A> {
        columns.iter().filter_map(|column| column.as_any().downcast_ref())
    }
    let first = columns.first()?;
    if first.as_any().is::<StringArray>() {
        let values = || each::<StringArray>(columns).flat_map(|column| column.iter().flatten());
        return Some((json!(values().min()?), json!(values().max()?)));
    }
    if first.as_any().is::<Int64Array>() {
        let values = || each::<Int64Array>(columns).flat_map(|column| column.iter().flatten());
        return Some((json!(values().min()?), json!(values().max()?)));
    }
    if first.as_any().is::<Date32Array>() {
        let values = || each::<Date32Array>(columns).flat_map(|column| column.iter().flatten());
        let day = |days| Some(json!(date32_to_datetime(days)?.date().to_string()));
        return Some((day(values().min()?)?, day(values().max()?)?));
    }
    let values = || each::<TimestampMicrosecondArray>(columns).flat_map(|column| column.iter().flatten());
    // Timestamp statistics have millisecond precision, so that bounds are rounded outward.
    let (min, max) = (
        values().min()?.div_euclid(1000) * 1000,
        values().max()?.div_euclid(1000) * 1000 + 1000,
    );
    Some((json!(Timestamp::from_micros(min)), json!(Timestamp::from_micros(max))))
}

#[derive(Debug)]
pub(crate) struct Decoder {
    table: TableName,
    path: String,
    reader: ParquetRecordBatchReader,
    schema: SchemaRef,
    pub(crate) sorted: bool,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Scan {
    /// Stores whose rows are read. `None` reads all rows.
    stores: Option<Arc<BTreeSet<StoreHost>>>,
    /// Columns that are read. `None` reads all columns.
    columns: Option<&'static [&'static str]>,
}

impl Scan {
    pub(crate) fn of(stores: &BTreeSet<StoreHost>) -> Self {
        Self {
            stores: Some(Arc::new(stores.clone())),
            columns: None,
        }
    }

    pub(crate) fn columns(self, columns: &'static [&'static str]) -> Self {
        Self {
            columns: Some(columns),
            ..self
        }
    }
}

impl Decoder {
    pub(crate) fn new(table: TableName, path: &str, bytes: Bytes, wanted: &Scan) -> Result<Self, LakeError> {
        let failed = |source| LakeError::Parquet {
            path: format!("{table}/{path}"),
            source,
        };
        let policy = if wanted.stores.is_some() {
            PageIndexPolicy::Optional
        } else {
            PageIndexPolicy::Skip
        };
        let options = ArrowReaderOptions::new()
            .with_skip_arrow_metadata(true)
            .with_page_index_policy(policy);
        let metadata = ArrowReaderMetadata::load(&bytes, options).map_err(failed)?;
        let selection = match &wanted.stores {
            Some(stores) => Some(selection(&bytes, &metadata, stores).map_err(failed)?),
            None => None,
        };
        let pairs = metadata.metadata().file_metadata().key_value_metadata();
        let sorted = pairs.is_some_and(|pairs| pairs.iter().any(|pair| pair.key == SORTED));
        let batch_rows = batch_rows(metadata.metadata());
        let mut builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, metadata).with_batch_size(batch_rows);
        let mut schema = Arc::clone(&table.spec().file_schema);
        if let Some(columns) = wanted.columns {
            let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
            builder = builder.with_projection(mask);
            let fields = schema
                .fields()
                .iter()
                .filter(|field| columns.contains(&field.name().as_str()))
                .cloned();
            schema = Arc::new(arrow::datatypes::Schema::new(fields.collect::<Vec<_>>()));
        }
        if let Some(selection) = selection {
            builder = builder.with_row_selection(selection);
        }
        let reader = builder.build().map_err(failed)?;
        Ok(Self {
            table,
            path: path.to_owned(),
            reader,
            schema,
            sorted,
        })
    }

    fn adapt(&self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let rows = batch.num_rows();
        let column = |field: &Arc<arrow::datatypes::Field>| match batch.column_by_name(field.name()) {
            // Another writer may leave out a column that has only nulls.
            None => Ok(new_null_array(field.data_type(), rows)),
            Some(column) if column.data_type() == field.data_type() => Ok(Arc::clone(column)),
            // Another writer may use a different representation of the same type.
            Some(column) => arrow::compute::cast(column, field.data_type()),
        };
        let columns = self.schema.fields().iter().map(column).collect::<Result<Vec<_>, _>>()?;
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}

impl Iterator for Decoder {
    type Item = Result<RecordBatch, LakeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.reader.next()?.and_then(|batch| self.adapt(&batch));
        Some(batch.map_err(|source| {
            let source = ParquetError::from(source);
            LakeError::Parquet {
                path: format!("{}/{}", self.table, self.path),
                source,
            }
        }))
    }
}

fn batch_rows(file: &ParquetMetaData) -> usize {
    let of_group = |group: &RowGroupMetaData| group.columns().iter().map(|column| column.num_values()).sum::<i64>();
    let values: i64 = file.row_groups().iter().map(of_group).sum();
    let count = |number: i64| usize::try_from(number).unwrap_or(0);
    let rows = count(file.file_metadata().num_rows());
    (rows.saturating_mul(BATCH_VALUES) / count(values).max(1)).clamp(1, BATCH_ROWS)
}

/// Reads only the column `store`, so that of the other columns only the selected rows are decoded.
fn selection(
    bytes: &Bytes,
    metadata: &ArrowReaderMetadata,
    stores: &BTreeSet<StoreHost>,
) -> Result<RowSelection, ParquetError> {
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes.clone(), metadata.clone());
    let mask = ProjectionMask::columns(builder.parquet_schema(), ["store"]);
    let (mut ranges, mut at): (Vec<std::ops::Range<usize>>, usize) = (Vec::new(), 0);
    for batch in builder.with_projection(mask).with_batch_size(65_536).build()? {
        let batch = batch?;
        let column = arrow::compute::cast(batch.column(0), &arrow::datatypes::DataType::Utf8)?;
        let column: Option<&StringArray> = column.as_any().downcast_ref();
        let wanted: BTreeSet<&str> = stores.iter().map(StoreHost::as_str).collect();
        for store in column.into_iter().flatten() {
            if store.is_some_and(|store| wanted.contains(store)) {
                match ranges.last_mut() {
                    Some(last) if last.end == at => last.end += 1,
                    _ => ranges.push(at..at + 1),
                }
            }
            at += 1;
        }
    }
    Ok(RowSelection::from_consecutive_ranges(ranges.into_iter(), at))
}
