use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, BooleanBuilder, Int64Array, Int64Builder, StringArray, StringBuilder, new_null_array,
};
use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;
use data_model::{
    Brand, CurrencyCode, PriceEvent, PricePoint, PriceSource, ProductKey, RunId, StoreHost, Timestamp, VariantId,
};

use super::build::table_rows;
use super::catalogue::{repeated, repeated_moment};
use super::columns::{Columns, some_int, store_runs};
use super::offers::{Offer, StoreOffers, VariantKey};
use super::record::{ReadRecord, read_record};
use super::{batch, id_from_column, id_to_column};
use crate::{LakeError, TableName};

#[derive(Debug, Clone, Copy)]
pub(crate) struct ObservationContext<'a> {
    /// Start of the observation. A live observation with a later time may be newer.
    pub(crate) since: Timestamp,
    pub(crate) at: Timestamp,
    pub(crate) run: Option<&'a RunId>,
    pub(crate) tick: u64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Change {
    pub(crate) key: VariantKey,
    /// Offer before the change. `None` if the variant was not listed.
    pub(crate) before: Option<Offer>,
    /// Offer after the change. `None` if the variant is gone.
    pub(crate) now: Option<Offer>,
    pub(crate) source: PriceSource,
}

table_rows! {
    HistoryRows of PriceHistory {
        month: StringBuilder,
        store: StringBuilder,
        brand_slug: StringBuilder,
        product_id: StringBuilder,
        platform_product_id: Int64Builder,
        variant_id: Int64Builder,
        event: StringBuilder,
        currency: StringBuilder,
        amounts: [Int64Builder; 2],
        available: BooleanBuilder,
        previous_currency: StringBuilder,
        previous_amounts: [Int64Builder; 2],
        previous_available: BooleanBuilder,
        observed_at: Vec<Option<Timestamp>>,
        run_id: StringBuilder,
        tick: Int64Builder,
        source: StringBuilder,
    } with {
        /// Month of the last row, cached because most rows share it.
        last_month: (Option<Timestamp>, String),
    }
}

#[derive(Debug)]
struct OfferColumns<'a> {
    product_id: &'a StringArray,
    platform_product_id: &'a Int64Array,
    variant_id: &'a Int64Array,
    currency: &'a StringArray,
    price_minor: &'a Int64Array,
    compare_at_minor: &'a Int64Array,
    available: &'a BooleanArray,
}

impl<'a> OfferColumns<'a> {
    fn of(variants: &'a RecordBatch) -> Result<Self, LakeError> {
        let columns = Columns::new(TableName::Variants, variants);
        Ok(Self {
            product_id: columns.text("product_id")?,
            platform_product_id: columns.int("platform_product_id")?,
            variant_id: columns.int("variant_id")?,
            currency: columns.text("currency")?,
            price_minor: columns.int("price_minor")?,
            compare_at_minor: columns.int("compare_at_minor")?,
            available: columns.flag("available")?,
        })
    }

    fn len(&self) -> usize {
        self.variant_id.len()
    }

    fn key(&self, row: usize) -> (u64, u64) {
        (
            id_from_column(self.platform_product_id.value(row)),
            id_from_column(self.variant_id.value(row)),
        )
    }

    /// Returns `true` if no variant occurs twice. Variants of one product are adjacent.
    fn is_each_once(&self) -> bool {
        let (mut product, mut seen) = (None, HashSet::new());
        (0..self.len()).all(|row| {
            let (of, variant) = self.key(row);
            if product.replace(of) != Some(of) {
                seen.clear();
            }
            seen.insert(variant)
        })
    }

    fn offer(&self, row: usize, currency: CurrencyCode) -> Offer {
        Offer {
            currency,
            price_minor: self.price_minor.value(row),
            compare_at_minor: some_int(self.compare_at_minor, row),
            available: self.available.value(row),
        }
    }
}

/// Returns the `price_history` rows for a store without known offers. The columns of `variants` are reused. Returns
/// `None` if a variant occurs more than once.
pub(crate) fn first_seen(
    brand: &Brand,
    variants: &RecordBatch,
    observed: ObservationContext<'_>,
) -> Result<Option<RecordBatch>, LakeError> {
    let now = OfferColumns::of(variants)?;
    if !now.is_each_once() {
        return Ok(None);
    }
    let rows = now.len();
    let shared = |name: &'static str| -> Result<ArrayRef, LakeError> {
        let columns = Columns::new(TableName::Variants, variants);
        let column = variants.column_by_name(name).cloned();
        column.ok_or_else(|| columns.invalid(name, "its absence"))
    };
    let no_number = || new_null_array(&DataType::Int64, rows);
    let columns: Vec<ArrayRef> = vec![
        repeated(&month(observed.at), rows),
        repeated(brand.store.as_str(), rows),
        repeated(brand.slug.as_str(), rows),
        shared("product_id")?,
        shared("platform_product_id")?,
        shared("variant_id")?,
        repeated(PriceEvent::FirstSeen.as_str(), rows),
        shared("currency")?,
        shared("price_minor")?,
        shared("compare_at_minor")?,
        shared("available")?,
        new_null_array(&DataType::Utf8, rows),
        no_number(),
        no_number(),
        new_null_array(&DataType::Boolean, rows),
        repeated_moment(observed.at, rows),
        match observed.run {
            Some(run) => repeated(run.as_str(), rows),
            None => new_null_array(&DataType::Utf8, rows),
        },
        Arc::new(Int64Array::from_value(id_to_column(observed.tick), rows)),
        repeated(PriceSource::Crawl.as_str(), rows),
    ];
    batch(TableName::PriceHistory, columns).map(Some)
}

impl HistoryRows {
    /// Adds one row for every variant that a crawl found new, changed or gone. `now` has the store's rows of
    /// `variants`. Variants observed live after the crawl began are skipped, because the crawled page may be older.
    pub(crate) fn push(
        &mut self,
        store: &StoreHost,
        brand_slug: Option<&str>,
        before: &StoreOffers,
        now: &[RecordBatch],
        observed: ObservationContext<'_>,
    ) -> Result<(), LakeError> {
        let brand_slug = brand_slug.unwrap_or(&before.brand_slug);
        let source = PriceSource::Crawl;
        let mut seen = HashSet::with_capacity(before.offers.len());
        for variants in now {
            let now = OfferColumns::of(variants)?;
            let columns = Columns::new(TableName::Variants, variants);
            for row in 0..now.len() {
                let key = now.key(row);
                let offer = now.offer(row, columns.parse("currency", now.currency.value(row))?);
                let known = before.offers.get(&key).copied();
                // Of a repeated id from a hostile store, only the first occurrence counts, as in `before`.
                if !seen.insert(key) || known == Some(offer) || before.is_newer(key, observed.since) {
                    continue;
                }
                let change = Change {
                    key,
                    before: known,
                    now: Some(offer),
                    source,
                };
                self.row(store, brand_slug, now.product_id.value(row), change, observed);
            }
        }
        let mut gone: Vec<_> = before.offers.iter().filter(|(key, _)| !seen.contains(*key)).collect();
        gone.sort_unstable_by_key(|(key, _)| **key);
        for (key, offer) in gone {
            if before.is_newer(*key, observed.since) {
                continue;
            }
            let change = Change {
                key: *key,
                before: Some(*offer),
                now: None,
                source,
            };
            self.change(store, brand_slug, change, observed);
        }
        Ok(())
    }

    pub(crate) fn change(
        &mut self,
        store: &StoreHost,
        brand_slug: &str,
        change: Change,
        observed: ObservationContext<'_>,
    ) {
        let product_id = product_id(store, change.key.0);
        self.row(store, brand_slug, &product_id, change, observed);
    }

    fn row(
        &mut self,
        store: &StoreHost,
        brand_slug: &str,
        product_id: &str,
        change: Change,
        observed: ObservationContext<'_>,
    ) {
        let Change {
            key: (platform_id, variant_id),
            before,
            now,
            source,
        } = change;
        if self.last_month.0 != Some(observed.at) {
            self.last_month = (Some(observed.at), month(observed.at));
        }
        self.month.append_value(&self.last_month.1);
        self.store.append_value(store.as_str());
        self.brand_slug.append_value(brand_slug);
        self.product_id.append_value(product_id);
        self.platform_product_id.append_value(id_to_column(platform_id));
        self.variant_id.append_value(id_to_column(variant_id));
        self.event.append_value(match (before, now) {
            (None, _) => PriceEvent::FirstSeen.as_str(),
            (Some(_), Some(_)) => PriceEvent::Changed.as_str(),
            (Some(_), None) => PriceEvent::Gone.as_str(),
        });
        self.currency
            .append_option(now.or(before).map(|offer| offer.currency.as_str()));
        let amounts = |offer: Option<Offer>| {
            [
                offer.map(|offer| offer.price_minor),
                offer.and_then(|offer| offer.compare_at_minor),
            ]
        };
        let fill = |columns: &mut [Int64Builder; 2], values: [Option<i64>; 2]| {
            columns
                .iter_mut()
                .zip(values)
                .for_each(|(column, value)| column.append_option(value));
        };
        fill(&mut self.amounts, amounts(now));
        self.available.append_option(now.map(|offer| offer.available));
        self.previous_currency
            .append_option(before.map(|offer| offer.currency.as_str()));
        fill(&mut self.previous_amounts, amounts(before));
        self.previous_available
            .append_option(before.map(|offer| offer.available));
        self.observed_at.push(Some(observed.at));
        self.run_id.append_option(observed.run.map(RunId::as_str));
        self.tick.append_value(i64::try_from(observed.tick).unwrap_or(i64::MAX));
        self.source.append_value(source.as_str());
    }
}

/// Price observations of one store: product id, commit batch number and price point of each row.
pub(crate) type StorePoints = (StoreHost, Vec<(u64, u64, PricePoint)>);

/// The rows are grouped by consecutive rows of one store.
pub(crate) fn points(batch: &RecordBatch) -> Result<Vec<StorePoints>, LakeError> {
    const TABLE: TableName = TableName::PriceHistory;
    let columns = Columns::new(TABLE, batch);
    let (store, product, tick) = (
        columns.text("store")?,
        columns.int("platform_product_id")?,
        columns.int("tick")?,
    );
    let run = |rows: Range<usize>| {
        let host = columns.parse("store", store.value(rows.start))?;
        let points = PricePoint::read_rows(TABLE, batch, rows.clone())?;
        let ids = |column: &Int64Array, row| id_from_column(column.value(row));
        let points = rows
            .zip(points)
            .map(|(row, point)| (ids(product, row), ids(tick, row), point));
        Ok((host, points.collect()))
    };
    store_runs(store).into_iter().map(run).collect()
}

read_record! {
    PricePoint {
        observed_at: Timestamp,
        variant as variant_id: VariantId,
        event: PriceEvent,
        currency: CurrencyCode,
        price_minor: Option<i64>,
        compare_at_minor: Option<i64>,
        available: Option<bool>,
        source: PriceSource,
    }
}

pub(crate) fn product_id(store: &StoreHost, platform_id: u64) -> String {
    let store = store.clone();
    ProductKey { store, platform_id }.id().to_string()
}

/// Returns the month such as `2026-11`: the first seven characters of the RFC 3339 timestamp.
fn month(moment: Timestamp) -> String {
    moment.to_string().chars().take(7).collect()
}
