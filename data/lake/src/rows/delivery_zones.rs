use arrow::array::{Array, BooleanBuilder, Int32Builder, Int64Builder, StringBuilder};
use arrow::record_batch::RecordBatch;
use data_model::{BrandSlug, DeliveryZone, StoreHost, Timestamp};

use super::build::table_rows;
use super::columns::{Columns, some_int};
use super::nested::{Texts, texts};
use super::rates::{Rates, rates};
use crate::{LakeError, TableName};

const TABLE: TableName = TableName::DeliveryZones;

table_rows! {
    /// Builder for rows of `delivery_zones`.
    ZoneRows of DeliveryZones {
        bucket: Int32Builder,
        store: StringBuilder,
        brand_slug: StringBuilder,
        zone: StringBuilder,
        confidence: StringBuilder,
        areas: Texts,
        serviceable: BooleanBuilder,
        days_min: Int64Builder,
        days_max: Int64Builder,
        currency: StringBuilder,
        rates: Rates,
        probes: Int64Builder,
        sampled_at: Vec<Option<Timestamp>>,
    }
}

impl ZoneRows {
    pub(crate) fn push(&mut self, bucket: i32, store: &StoreHost, slug: &BrandSlug, zone: &DeliveryZone) {
        self.bucket.append_value(bucket);
        self.store.append_value(store.as_str());
        self.brand_slug.append_value(slug.as_str());
        self.zone.append_value(&zone.zone);
        self.confidence.append_value(zone.confidence.as_str());
        self.areas.push(&zone.areas);
        self.serviceable.append_option(zone.serviceable);
        self.days_min.append_option(zone.days_min.map(i64::from));
        self.days_max.append_option(zone.days_max.map(i64::from));
        self.currency.append_value(zone.currency.as_str());
        self.rates.push(&zone.rates);
        self.probes.append_value(i64::from(zone.probes));
        self.sampled_at.push(Some(zone.sampled_at));
    }
}

/// Reads the zones in a record batch of `delivery_zones`, each with its store.
pub(crate) fn zones(batch: &RecordBatch) -> Result<Vec<(StoreHost, DeliveryZone)>, LakeError> {
    let columns = Columns::new(TABLE, batch);
    let (store, zone, confidence) = (
        columns.text("store")?,
        columns.text("zone")?,
        columns.text("confidence")?,
    );
    let (areas, serviceable) = (columns.list("areas")?, columns.flag("serviceable")?);
    let (days_min, days_max) = (columns.int("days_min")?, columns.int("days_max")?);
    let (currency, list) = (columns.text("currency")?, columns.list("rates")?);
    let (probes, sampled_at) = (columns.int("probes")?, columns.moment("sampled_at")?);
    let row = |row| {
        let zone = DeliveryZone {
            zone: zone.value(row).to_owned(),
            confidence: columns.parse("confidence", confidence.value(row))?,
            areas: texts(areas, row).ok_or_else(|| columns.invalid("areas", "its elements"))?,
            serviceable: serviceable.is_valid(row).then(|| serviceable.value(row)),
            days_min: some_int(days_min, row),
            days_max: some_int(days_max, row),
            currency: columns.parse("currency", currency.value(row))?,
            rates: rates(list, row).ok_or_else(|| columns.invalid("rates", "its elements"))?,
            probes: some_int(probes, row).unwrap_or(0),
            sampled_at: Timestamp::from_micros(sampled_at.value(row)),
        };
        Ok((columns.parse("store", store.value(row))?, zone))
    };
    (0..batch.num_rows()).map(row).collect()
}
