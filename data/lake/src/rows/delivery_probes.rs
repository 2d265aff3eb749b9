use arrow::array::{Int32Builder, Int64Builder, StringBuilder};
use arrow::record_batch::RecordBatch;
use data_model::{BrandSlug, DeliveryProbe, StoreHost, Timestamp, VariantId};

use super::build::table_rows;
use super::columns::{Columns, some_int};
use super::rates::{Rates, rates};
use super::{id_from_column, id_to_column};
use crate::{LakeError, TableName};

const TABLE: TableName = TableName::DeliveryProbes;

table_rows! {
    /// Builder for rows of `delivery_probes`.
    ProbeRows of DeliveryProbes {
        bucket: Int32Builder,
        store: StringBuilder,
        brand_slug: StringBuilder,
        pincode: StringBuilder,
        variant_id: Int64Builder,
        quantity: Int64Builder,
        goods_minor: Int64Builder,
        grams: Int64Builder,
        currency: StringBuilder,
        options: Rates,
        asked_at: Vec<Option<Timestamp>>,
    }
}

impl ProbeRows {
    pub(crate) fn push(&mut self, bucket: i32, store: &StoreHost, slug: &BrandSlug, probe: &DeliveryProbe) {
        self.bucket.append_value(bucket);
        self.store.append_value(store.as_str());
        self.brand_slug.append_value(slug.as_str());
        self.pincode.append_value(probe.pincode.to_string());
        self.variant_id.append_value(id_to_column(probe.variant.0));
        self.quantity.append_value(i64::from(probe.quantity));
        self.goods_minor.append_value(probe.goods_minor);
        self.grams.append_option(probe.grams);
        self.currency.append_value(probe.currency.as_str());
        self.options.push(&probe.options);
        self.asked_at.push(Some(probe.asked_at));
    }
}

/// Reads the responses in a record batch of `delivery_probes`, each with its store.
pub(crate) fn probes(batch: &RecordBatch) -> Result<Vec<(StoreHost, DeliveryProbe)>, LakeError> {
    let columns = Columns::new(TABLE, batch);
    let (store, pincode) = (columns.text("store")?, columns.text("pincode")?);
    let (variant, quantity) = (columns.int("variant_id")?, columns.int("quantity")?);
    let (goods, grams) = (columns.int("goods_minor")?, columns.int("grams")?);
    let (currency, options) = (columns.text("currency")?, columns.list("options")?);
    let asked_at = columns.moment("asked_at")?;
    let row = |row| {
        let probe = DeliveryProbe {
            pincode: columns.parse("pincode", pincode.value(row))?,
            variant: VariantId(id_from_column(variant.value(row))),
            quantity: some_int(quantity, row).ok_or_else(|| columns.invalid("quantity", quantity.value(row)))?,
            goods_minor: goods.value(row),
            grams: some_int(grams, row),
            currency: columns.parse("currency", currency.value(row))?,
            options: rates(options, row).ok_or_else(|| columns.invalid("options", "its elements"))?,
            asked_at: Timestamp::from_micros(asked_at.value(row)),
        };
        Ok((columns.parse("store", store.value(row))?, probe))
    };
    (0..batch.num_rows()).map(row).collect()
}
