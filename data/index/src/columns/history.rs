use std::sync::LazyLock;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use data_model::{PriceEvent, PricePoint, PriceSource, Product, Timestamp, Variant, VariantId};

use super::table::{Columns, List, columns, flag, number};

pub(crate) const HISTORY: &str = "history.arrow";

/// Maximum number of stored points of a product. The newest points are stored.
const POINTS_MAX: usize = 1_000;

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(HistoryColumns::schema);

columns! {
    /// Price histories of products.
    HistoryColumns, HistoryColumnsWriter {
        unchanged_since: Option<i64>,
        points: List<PointColumns>,
    }
}

columns! {
    /// Points of price histories.
    PointColumns, PointColumnsWriter {
        observed_at: i64,
        variant: u64,
        event: u8,
        currency: String,
        price_minor: Option<i64>,
        compare_at_minor: Option<i64>,
        available: Option<bool>,
    }
}

/// One point of a product's price history, read in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceRef<'a> {
    /// Time of the observation.
    pub observed_at: Timestamp,
    /// Id of the variant.
    pub variant: VariantId,
    /// Change that was observed.
    pub event: PriceEvent,
    /// ISO 4217 currency code of the prices.
    pub currency: &'a str,
    /// Price from this point on, in minor units. `None` when the variant is gone.
    pub price_minor: Option<i64>,
    /// List price from this point on, in minor units, if it is above the price.
    pub compare_at_minor: Option<i64>,
    /// True if the variant is available from this point on. `None` when the variant is gone.
    pub available: Option<bool>,
    /// Source of the observation.
    pub source: PriceSource,
}

/// Price history of all products of a part. An unchanged product stores no points, because its variants and the time
/// when it was first seen determine them. This saves nearly all of the space.
#[derive(Debug)]
pub(crate) struct History(HistoryColumns);

impl History {
    pub(crate) fn schema() -> &'static SchemaRef {
        &SCHEMA
    }

    pub(crate) fn of(batch: &RecordBatch) -> Result<Self, ArrowError> {
        HistoryColumns::of(batch).map(Self)
    }

    pub(crate) fn rows(&self) -> usize {
        self.0.unchanged_since.len()
    }

    /// Returns the time at which all variants of the row were first seen, if nothing has changed since.
    pub(crate) fn unchanged_since(&self, row: u32) -> Option<Timestamp> {
        number(&self.0.unchanged_since, row as usize).map(Timestamp::from_micros)
    }

    /// Returns the stored points of the row, newest first.
    pub(crate) fn points(&self, row: u32) -> impl ExactSizeIterator<Item = PriceRef<'_>> {
        let points = &self.0.points;
        let columns = &points.items;
        points.span(row as usize).map(move |at| {
            let code = usize::from(columns.event.value(at));
            let (source, event) = (code / PriceEvent::ALL.len(), code % PriceEvent::ALL.len());
            PriceRef {
                observed_at: Timestamp::from_micros(columns.observed_at.value(at)),
                variant: VariantId(columns.variant.value(at)),
                event: PriceEvent::ALL.get(event).copied().unwrap_or(PriceEvent::Changed),
                currency: columns.currency.value(at),
                price_minor: number(&columns.price_minor, at),
                compare_at_minor: number(&columns.compare_at_minor, at),
                available: flag(&columns.available, at),
                source: PriceSource::ALL.get(source).copied().unwrap_or(PriceSource::Crawl),
            }
        })
    }
}

#[derive(Debug, Default)]
pub(crate) struct HistoryWriter(HistoryColumnsWriter);

impl HistoryWriter {
    /// Adds the points of the next row, newest first, and returns the number of stored points.
    pub(crate) fn push(&mut self, product: &Product, points: &[PricePoint]) -> usize {
        let unchanged_since = unchanged_since(product, points);
        self.0.unchanged_since.push(unchanged_since.map(Timestamp::micros));
        let kept = if unchanged_since.is_some() { 0 } else { POINTS_MAX };
        self.0.points.push(points.iter().take(kept), |columns, point| {
            columns.observed_at.push(point.observed_at.micros());
            columns.variant.push(point.variant.0);
            columns.event.push(code(point));
            columns.currency.append_value(point.currency.as_str());
            columns.price_minor.push(point.price_minor);
            columns.compare_at_minor.push(point.compare_at_minor);
            columns.available.push(point.available);
        });
        kept.min(points.len())
    }

    pub(crate) fn finish(mut self) -> Result<RecordBatch, ArrowError> {
        HistoryColumns::batch(&mut self.0, &SCHEMA)
    }
}

fn code(point: &PricePoint) -> u8 {
    let event = PriceEvent::ALL.iter().position(|event| *event == point.event);
    let source = PriceSource::ALL.iter().position(|source| *source == point.source);
    let code = event.unwrap_or(0) + source.unwrap_or(0) * PriceEvent::ALL.len();
    u8::try_from(code).unwrap_or(0)
}

/// Returns the time at which all variants of the product were first seen, if no variant has changed since.
fn unchanged_since(product: &Product, points: &[PricePoint]) -> Option<Timestamp> {
    let first = points.first()?.observed_at;
    if points.len() != product.variants.len() {
        return None;
    }
    let mut variants: Vec<&Variant> = product.variants.iter().collect();
    variants.sort_by_key(|variant| variant.id);
    let mut points: Vec<&PricePoint> = points.iter().collect();
    points.sort_by_key(|point| point.variant);
    let same = |(variant, point): (&&Variant, &&PricePoint)| {
        **point
            == PricePoint {
                observed_at: first,
                variant: variant.id,
                event: PriceEvent::FirstSeen,
                currency: product.currency,
                price_minor: Some(variant.price_minor),
                compare_at_minor: variant.compare_at_minor,
                available: Some(variant.available),
                source: PriceSource::Crawl,
            }
    };
    variants.iter().zip(&points).all(same).then_some(first)
}
