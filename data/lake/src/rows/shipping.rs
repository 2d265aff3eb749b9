use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanBuilder, Int32Builder, Int64Builder, StringBuilder};
use arrow::record_batch::RecordBatch;
use data_model::{Brand, ShippingPolicy, StoreHost};

use super::batch;
use super::columns::{Columns, some_int};
use super::nested::{Tiers, tiers};
use crate::{LakeError, TableName};

/// Rows of `shipping_policies` on their way into a batch.
#[derive(Debug, Default)]
pub(crate) struct ShippingRows {
    bucket: Int32Builder,
    store: StringBuilder,
    brand_slug: StringBuilder,
    currency: StringBuilder,
    free_shipping_threshold_minor: Int64Builder,
    cod_available: BooleanBuilder,
    tiers: Tiers,
}

impl ShippingRows {
    pub(crate) fn push(&mut self, bucket: i32, brand: &Brand, policy: &ShippingPolicy) {
        let ShippingPolicy {
            currency,
            free_shipping_threshold_minor,
            cod_available,
            tiers,
        } = policy;
        self.bucket.append_value(bucket);
        self.store.append_value(brand.store.as_str());
        self.brand_slug.append_value(brand.slug.as_str());
        self.currency.append_value(currency.as_str());
        self.free_shipping_threshold_minor
            .append_option(*free_shipping_threshold_minor);
        self.cod_available.append_option(*cod_available);
        self.tiers.push(tiers);
    }

    pub(crate) fn finish(mut self) -> Result<RecordBatch, LakeError> {
        let nested = |source| LakeError::Columns {
            table: TableName::ShippingPolicies.as_str(),
            source,
        };
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.bucket.finish()),
            Arc::new(self.store.finish()),
            Arc::new(self.brand_slug.finish()),
            Arc::new(self.currency.finish()),
            Arc::new(self.free_shipping_threshold_minor.finish()),
            Arc::new(self.cod_available.finish()),
            self.tiers.finish().map_err(nested)?,
        ];
        batch(TableName::ShippingPolicies, columns)
    }
}

/// The policies of a batch of `shipping_policies`.
pub(crate) fn policies(batch: &RecordBatch) -> Result<Vec<(StoreHost, ShippingPolicy)>, LakeError> {
    let columns = Columns::new(TableName::ShippingPolicies, batch);
    let (store, currency) = (columns.text("store")?, columns.text("currency")?);
    let threshold = columns.int("free_shipping_threshold_minor")?;
    let (cod, list) = (columns.flag("cod_available")?, columns.list("tiers")?);
    let policy = |row| {
        let policy = ShippingPolicy {
            currency: columns.parse("currency", currency.value(row))?,
            free_shipping_threshold_minor: some_int(threshold, row),
            cod_available: cod.is_valid(row).then(|| cod.value(row)),
            tiers: tiers(list, row).ok_or_else(|| columns.invalid("tiers", "its elements"))?,
        };
        Ok((columns.parse("store", store.value(row))?, policy))
    };
    (0..batch.num_rows()).map(policy).collect()
}
