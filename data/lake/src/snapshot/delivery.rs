//! Reads the stored delivery data of stores.

use std::collections::{BTreeMap, BTreeSet};

use arrow::record_batch::RecordBatch;
use async_recursion::async_recursion as boxed;
use data_model::{DeliverySample, DeliveryZone, KnownDelivery, StoreHost, VariantId};

use super::grouped;
use crate::rows::columns::{Columns, some_int};
use crate::rows::delivery::store_records;
use crate::rows::id_from_column;
use crate::{LakeError, LakeSnapshot, TableName};

/// The order is that in which the data is read back.
pub(crate) fn order(known: &mut KnownDelivery) {
    by_pincode(&mut known.samples);
    by_name(&mut known.zones);
    known.probes.sort_by_key(|probe| {
        let cart = (probe.variant, probe.quantity, probe.goods_minor);
        (probe.asked_at, probe.pincode, cart)
    });
}

fn by_pincode(samples: &mut Vec<DeliverySample>) {
    samples.sort_by_key(|sample| (sample.pincode.number(), std::cmp::Reverse(sample.sampled_at)));
    samples.dedup_by_key(|sample| sample.pincode);
}

fn by_name(zones: &mut [DeliveryZone]) {
    zones.sort_by(|one, other| (&one.zone, one.confidence).cmp(&(&other.zone, other.confidence)));
}

impl LakeSnapshot {
    /// Returns the delivery samples of these stores, or of all stores, by pincode.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn delivery(
        &self,
        stores: Option<&BTreeSet<StoreHost>>,
    ) -> Result<BTreeMap<StoreHost, Vec<DeliverySample>>, LakeError> {
        let mut known = grouped(self.rows(TableName::DeliveryMatrix, stores, store_records).await?);
        known.values_mut().for_each(by_pincode);
        Ok(known)
    }

    /// Returns the delivery zones of these stores, or of all stores, by name and confidence.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn delivery_zones(
        &self,
        stores: Option<&BTreeSet<StoreHost>>,
    ) -> Result<BTreeMap<StoreHost, Vec<DeliveryZone>>, LakeError> {
        let mut known = grouped(self.rows(TableName::DeliveryZones, stores, store_records).await?);
        known.values_mut().for_each(|zones| by_name(zones));
        Ok(known)
    }

    /// Returns all stored delivery data of these stores, or of all stores.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn known_delivery(
        &self,
        stores: Option<&BTreeSet<StoreHost>>,
    ) -> Result<BTreeMap<StoreHost, KnownDelivery>, LakeError> {
        let mut known: BTreeMap<StoreHost, KnownDelivery> = BTreeMap::new();
        for (store, samples) in self.delivery(stores).await? {
            known.entry(store).or_default().samples = samples;
        }
        for (store, zones) in self.delivery_zones(stores).await? {
            known.entry(store).or_default().zones = zones;
        }
        for (store, probe) in self.rows(TableName::DeliveryProbes, stores, store_records).await? {
            known.entry(store).or_default().probes.push(probe);
        }
        known.values_mut().for_each(order);
        Ok(known)
    }
}

/// A variant that is in stock: its id, its price in minor units, and its weight in grams if stated.
pub type OnSale = (VariantId, i64, Option<i64>);

impl LakeSnapshot {
    /// Returns the available variants of a store in table order.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn on_sale(&self, store: &StoreHost) -> Result<Vec<OnSale>, LakeError> {
        let stores = BTreeSet::from([store.clone()]);
        self.rows(TableName::Variants, Some(&stores), on_sale).await
    }
}

fn on_sale(batch: &RecordBatch) -> Result<Vec<OnSale>, LakeError> {
    let columns = Columns::new(TableName::Variants, batch);
    let (variant, price) = (columns.int("variant_id")?, columns.int("price_minor")?);
    let (available, grams) = (columns.flag("available")?, columns.int("grams")?);
    let rows = (0..batch.num_rows()).filter(|row| available.value(*row));
    let one = |row| {
        let id = VariantId(id_from_column(variant.value(row)));
        (id, price.value(row), some_int(grams, row))
    };
    Ok(rows.map(one).collect())
}
