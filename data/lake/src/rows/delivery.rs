//! Rows of `delivery_matrix`, `delivery_zones` and `delivery_probes`: a store's columns, then those of a record.

use arrow::array::ArrayRef;
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use data_model::{
    BrandSlug, Confidence, CurrencyCode, DeliveryProbe, DeliveryRate, DeliverySample, DeliveryZone, Pincode, StoreHost,
    Timestamp, VariantId,
};

use super::build::{Column, StoreColumns, TableRows};
use super::columns::Columns;
use super::record::{Record, record};
use crate::{LakeError, TableName};

/// A store's record that is a row of a table.
pub(crate) trait StoreRecord: Record {
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
pub(crate) struct StoreRecords<R: StoreRecord> {
    store: StoreColumns,
    records: R::Builder,
}

impl<R: StoreRecord> Default for StoreRecords<R> {
    fn default() -> Self {
        Self {
            store: StoreColumns::default(),
            records: R::Builder::default(),
        }
    }
}

impl<R: StoreRecord> Column for StoreRecords<R> {
    fn end(&mut self, columns: &mut Vec<ArrayRef>) -> Result<(), ArrowError> {
        self.store.end(columns)?;
        self.records.end(columns)
    }
}

impl<R: StoreRecord> TableRows for StoreRecords<R> {
    const TABLE: TableName = R::TABLE;
}

impl<R: StoreRecord> StoreRecords<R> {
    pub(crate) fn push(&mut self, bucket: i32, store: &StoreHost, slug: &BrandSlug, records: &[R]) {
        for record in records {
            self.store.push(bucket, store, slug.as_str());
            record.append(&mut self.records);
        }
    }
}

/// Reads the records in a record batch of their table, each with its store.
pub(crate) fn store_records<R: StoreRecord>(batch: &RecordBatch) -> Result<Vec<(StoreHost, R)>, LakeError> {
    let columns = Columns::new(R::TABLE, batch);
    let stores = columns.text("store")?.iter().map(Option::unwrap_or_default);
    let records = stores.zip(R::read_all(R::TABLE, batch)?);
    records
        .map(|(store, record)| Ok((columns.parse("store", store)?, record)))
        .collect()
}
