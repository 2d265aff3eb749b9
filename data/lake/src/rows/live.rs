//! Rows of `live_prices`: the latest known offer of variants for which it does not come from `variants`.

use std::collections::HashMap;
use std::ops::Range;

use arrow::array::{Array, BooleanBuilder, Int64Builder, StringBuilder};
use arrow::record_batch::RecordBatch;
use data_model::{StoreHost, Timestamp};

use super::build::{StoreColumns, table_rows};
use super::columns::{Columns, some_int, some_moment, store_runs};
use super::history::product_id;
use super::offers::{LiveOffer, LiveVariant, Offer, VariantKey};
use super::{id_from_column, id_to_column};
use crate::{LakeError, TableName};

/// Live offers of one store's variants that are newer than `variants`.
#[derive(Debug, Default)]
pub(crate) struct StoreLive {
    pub(crate) brand_slug: String,
    pub(crate) offers: HashMap<VariantKey, LiveOffer>,
    /// `true` if the store's `live_prices` file is missing or damaged, so that the price history must be read instead.
    pub(crate) is_lost: bool,
}

table_rows! {
    LiveRows of LivePrices {
        store: StoreColumns,
        product_id: StringBuilder,
        platform_product_id: Int64Builder,
        variant_id: Int64Builder,
        currency: StringBuilder,
        amounts: [Int64Builder; 2],
        available: BooleanBuilder,
        observed_at: Vec<Option<Timestamp>>,
        changed_at: Vec<Option<Timestamp>>,
    }
}

impl LiveRows {
    /// The live offers must be ordered by product and variant.
    pub(crate) fn push(&mut self, bucket: i32, store: &StoreHost, brand_slug: &str, live: &[LiveVariant]) {
        let mut product = None;
        let mut id = String::new();
        for LiveVariant { key, live } in live {
            if product.replace(key.0) != Some(key.0) {
                id = product_id(store, key.0);
            }
            self.store.push(bucket, store, brand_slug);
            self.product_id.append_value(&id);
            self.platform_product_id.append_value(id_to_column(key.0));
            self.variant_id.append_value(id_to_column(key.1));
            self.currency.append_value(live.currency.as_str());
            let [price, compare_at] = &mut self.amounts;
            price.append_option(live.offer.map(|offer| offer.price_minor));
            compare_at.append_option(live.offer.and_then(|offer| offer.compare_at_minor));
            self.available.append_option(live.offer.map(|offer| offer.available));
            self.observed_at.push(Some(live.at));
            self.changed_at.push(live.changed_at);
        }
    }
}

impl StoreLive {
    /// The rows must belong to this store.
    pub(crate) fn add(&mut self, batch: &RecordBatch, rows: Range<usize>) -> Result<(), LakeError> {
        let columns = Columns::new(TableName::LivePrices, batch);
        let (product, variant) = (columns.int("platform_product_id")?, columns.int("variant_id")?);
        let (price, compare_at) = (columns.int("price_minor")?, columns.int("compare_at_minor")?);
        let (available, currency) = (columns.flag("available")?, columns.text("currency")?);
        let (observed_at, changed_at) = (columns.moment("observed_at")?, columns.moment("changed_at")?);
        let slug = columns.text("brand_slug")?;
        for row in rows {
            if self.brand_slug.is_empty() {
                slug.value(row).clone_into(&mut self.brand_slug);
            }
            let currency = columns.parse("currency", currency.value(row))?;
            let offer = some_int(price, row).map(|price_minor| Offer {
                currency,
                price_minor,
                compare_at_minor: some_int(compare_at, row),
                available: available.is_valid(row) && available.value(row),
            });
            let known = LiveOffer {
                at: Timestamp::from_micros(observed_at.value(row)),
                offer,
                currency,
                changed_at: some_moment(changed_at, row),
            };
            let key = (id_from_column(product.value(row)), id_from_column(variant.value(row)));
            self.offers.insert(key, known);
        }
        Ok(())
    }
}

/// Returns for each store the time of its last price history row that did not come from the crawl in `variants`.
pub(crate) fn changes(batch: &RecordBatch) -> Result<Vec<(StoreHost, Timestamp)>, LakeError> {
    let columns = Columns::new(TableName::LivePrices, batch);
    let (store, changed_at) = (columns.text("store")?, columns.moment("changed_at")?);
    let mut changes = Vec::new();
    for rows in store_runs(store) {
        let name = store.value(rows.start);
        if let Some(last) = rows.filter_map(|row| some_moment(changed_at, row)).max() {
            changes.push((columns.parse("store", name)?, last));
        }
    }
    Ok(changes)
}
