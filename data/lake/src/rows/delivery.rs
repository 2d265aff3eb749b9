use arrow::array::{Array, BooleanBuilder, Int32Builder, Int64Builder, StringBuilder};
use arrow::record_batch::RecordBatch;
use data_model::{BrandSlug, DeliverySample, StoreHost, Timestamp};

use super::build::table_rows;
use super::columns::{Columns, some_int, some_text};
use crate::{LakeError, TableName};

table_rows! {
    /// Builder for rows of `delivery_matrix`.
    DeliveryRows of DeliveryMatrix {
        bucket: Int32Builder,
        store: StringBuilder,
        brand_slug: StringBuilder,
        pincode: StringBuilder,
        serviceable: BooleanBuilder,
        zone: StringBuilder,
        days_min: Int64Builder,
        days_max: Int64Builder,
        sampled_at: Vec<Option<Timestamp>>,
    }
}

impl DeliveryRows {
    pub(crate) fn push(&mut self, bucket: i32, store: &StoreHost, slug: &BrandSlug, sample: &DeliverySample) {
        let DeliverySample {
            pincode,
            serviceable,
            zone,
            days_min,
            days_max,
            sampled_at,
        } = sample;
        self.bucket.append_value(bucket);
        self.store.append_value(store.as_str());
        self.brand_slug.append_value(slug.as_str());
        self.pincode.append_value(pincode.to_string());
        self.serviceable.append_option(*serviceable);
        self.zone.append_option(zone.as_deref());
        self.days_min.append_option(days_min.map(i64::from));
        self.days_max.append_option(days_max.map(i64::from));
        self.sampled_at.push(Some(*sampled_at));
    }
}

/// Reads the samples in a record batch of `delivery_matrix`, each with its store.
pub(crate) fn samples(batch: &RecordBatch) -> Result<Vec<(StoreHost, DeliverySample)>, LakeError> {
    let columns = Columns::new(TableName::DeliveryMatrix, batch);
    let (store, pincode) = (columns.text("store")?, columns.text("pincode")?);
    let (serviceable, zone) = (columns.flag("serviceable")?, columns.text("zone")?);
    let (days_min, days_max) = (columns.int("days_min")?, columns.int("days_max")?);
    let sampled_at = columns.moment("sampled_at")?;
    let sample = |row| {
        let sample = DeliverySample {
            pincode: columns.parse("pincode", pincode.value(row))?,
            serviceable: serviceable.is_valid(row).then(|| serviceable.value(row)),
            zone: some_text(zone, row),
            days_min: some_int(days_min, row),
            days_max: some_int(days_max, row),
            sampled_at: Timestamp::from_micros(sampled_at.value(row)),
        };
        Ok((columns.parse("store", store.value(row))?, sample))
    };
    (0..batch.num_rows()).map(sample).collect()
}
