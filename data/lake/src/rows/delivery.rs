//! Rows of `delivery_matrix`, `delivery_zones` and `delivery_probes`: a store's columns, then those of a record.

use arrow::array::ArrayRef;
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use data_model::{
    BrandSlug, Confidence, CurrencyCode, DeliveryProbe, DeliveryRate, DeliverySample, DeliveryZone, Pincode, StoreHost,
    Timestamp, VariantId,
};

use super::build::{Column, StoreColumns, TableRows};
use super::record::{ReadRecord, Record, read_record, record};
use crate::{LakeError, TableName};

/// A store's record that is a row of a table.
pub(crate) trait StoreRecord: ReadRecord {
    const TABLE: TableName;
}

record! {
    /// Builder of stores' answers for single pincodes.
    SampleBuilder of DeliverySample {
        pincode: Pincode,
        serviceable: Option<bool>,
        zone: Option<String>,
        days_min: Option<u16>,
        days_max: Option<u16>,
        sampled_at: Timestamp,
    }
}

impl StoreRecord for DeliverySample {
    const TABLE: TableName = TableName::DeliveryMatrix;
}

record! {
    /// Builder of derived zones.
    ZoneBuilder of DeliveryZone {
        zone: String,
        confidence: Confidence,
        areas: Vec<String>,
        serviceable: Option<bool>,
        days_min: Option<u16>,
        days_max: Option<u16>,
        currency: CurrencyCode,
        rates: Vec<DeliveryRate>,
        probes: u32,
        sampled_at: Timestamp,
    }
}

impl StoreRecord for DeliveryZone {
    const TABLE: TableName = TableName::DeliveryZones;
}

record! {
    /// Builder of stores' responses.
    ProbeBuilder of DeliveryProbe {
        pincode: Pincode,
        variant as variant_id: VariantId,
        quantity: u32,
        goods_minor: i64,
        grams: Option<i64>,
        currency: CurrencyCode,
        options: Vec<DeliveryRate>,
        asked_at: Timestamp,
    }
}

impl StoreRecord for DeliveryProbe {
    const TABLE: TableName = TableName::DeliveryProbes;
}

/// Builder for rows of the record's table.
pub(crate) struct StoreRecords<R: Record> {
    store: StoreColumns,
    records: R::Builder,
}

impl<R: Record> Default for StoreRecords<R> {
    fn default() -> Self {
        Self {
            store: StoreColumns::default(),
            records: R::Builder::default(),
        }
    }
}

impl<R: Record> Column for StoreRecords<R> {
    fn end(&mut self, columns: &mut Vec<ArrayRef>) -> Result<(), ArrowError> {
        self.store.end(columns)?;
        self.records.end(columns)
    }
}

impl<R: StoreRecord + Record> TableRows for StoreRecords<R> {
    const TABLE: TableName = R::TABLE;
}

impl<R: Record> StoreRecords<R> {
    pub(crate) fn push(&mut self, bucket: i32, store: &StoreHost, slug: &BrandSlug, records: &[R]) {
        for record in records {
            self.store.push(bucket, store, slug.as_str());
            record.append(&mut self.records);
        }
    }
}

/// Reads the records in a record batch of their table, each with its store.
pub(crate) fn store_records<R: StoreRecord>(batch: &RecordBatch) -> Result<Vec<(StoreHost, R)>, LakeError> {
    let stores = StoreKey::read_all(R::TABLE, batch)?.into_iter().map(|key| key.store);
    Ok(stores.zip(R::read_all(R::TABLE, batch)?).collect())
}

struct StoreKey {
    store: StoreHost,
}

read_record! {
    StoreKey { store: StoreHost, }
}
