use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use arrow::array::{
    Array, ArrayRef, BooleanArray, Int64Array, ListArray, RecordBatch, StringArray, StringBuilder, StructArray,
    UInt8Array, UInt64Array,
};
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use arrow::error::ArrowError;
use data_model::{PriceEvent, PricePoint, PriceSource, Product, Timestamp, Variant, VariantId};

use super::ipc::{cast, column};
use super::lists::{Ends, Spans, child, item, list};

/// File name within a release part.
pub(crate) const HISTORY: &str = "history.arrow";

/// Maximum number of stored points of a product. The newest points are stored.
const POINTS_MAX: usize = 1_000;

fn point_fields() -> Fields {
    Fields::from(vec![
        Field::new("observed_at", DataType::Int64, false),
        Field::new("variant", DataType::UInt64, false),
        Field::new("event", DataType::UInt8, false),
        Field::new("currency", DataType::Utf8, false),
        Field::new("price_minor", DataType::Int64, true),
        Field::new("compare_at_minor", DataType::Int64, true),
        Field::new("available", DataType::Boolean, true),
    ])
}

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    Arc::new(Schema::new(vec![
        Field::new("unchanged_since", DataType::Int64, true),
        list("points", DataType::Struct(point_fields())),
    ]))
});

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
    /// Source of the observation. `None` if the part was written before sources were recorded.
    pub source: Option<PriceSource>,
}

/// Schema key of parts whose event codes also encode the source. The code of an event from a live answer is higher by
/// the number of events.
const TELLS_SOURCES: &str = "haat.sources";

/// Price history of all products of a part. A product that has not changed since it was first seen stores no points.
/// The points of an unchanged product are derived from its variants and the time when it was first seen, which saves
/// nearly all of the space.
#[derive(Debug)]
pub(crate) struct History {
    /// True if the schema of the part has the key [`TELLS_SOURCES`].
    tells_sources: bool,
    unchanged_since: Int64Array,
    spans: Spans,
    observed_at: Int64Array,
    variant: UInt64Array,
    event: UInt8Array,
    currency: StringArray,
    price: Int64Array,
    compare_at: Int64Array,
    available: BooleanArray,
}

impl History {
    pub(crate) fn schema() -> &'static SchemaRef {
        &SCHEMA
    }

    /// Reads the columns of the file's only batch. `notes` is the metadata of the file's schema.
    pub(crate) fn of(batch: &RecordBatch, notes: &HashMap<String, String>) -> Result<Self, ArrowError> {
        let points: ListArray = column(batch, "points")?;
        let entries: StructArray = cast(points.values(), "points")?;
        Ok(Self {
            tells_sources: notes.contains_key(TELLS_SOURCES),
            unchanged_since: column(batch, "unchanged_since")?,
            spans: Spans::of(&points),
            observed_at: child(&entries, "observed_at")?,
            variant: child(&entries, "variant")?,
            event: child(&entries, "event")?,
            currency: child(&entries, "currency")?,
            price: child(&entries, "price_minor")?,
            compare_at: child(&entries, "compare_at_minor")?,
            available: child(&entries, "available")?,
        })
    }

    pub(crate) fn rows(&self) -> usize {
        self.unchanged_since.len()
    }

    /// Returns the time at which all variants of the row were first seen, if nothing has changed since.
    pub(crate) fn unchanged_since(&self, row: u32) -> Option<Timestamp> {
        let row = row as usize;
        let known = self.unchanged_since.is_valid(row);
        known.then(|| Timestamp::from_micros(self.unchanged_since.value(row)))
    }

    /// Returns the points that are stored for the row, newest first.
    pub(crate) fn points(&self, row: u32) -> impl ExactSizeIterator<Item = PriceRef<'_>> {
        self.spans.at(row as usize).map(|at| {
            let minor = |column: &Int64Array| column.is_valid(at).then(|| column.value(at));
            let code = usize::from(self.event.value(at));
            let (source, event) = (code / PriceEvent::ALL.len(), code % PriceEvent::ALL.len());
            let source = PriceSource::ALL.get(source).copied();
            PriceRef {
                observed_at: Timestamp::from_micros(self.observed_at.value(at)),
                variant: VariantId(self.variant.value(at)),
                event: PriceEvent::ALL.get(event).copied().unwrap_or(PriceEvent::Changed),
                currency: self.currency.value(at),
                price_minor: minor(&self.price),
                compare_at_minor: minor(&self.compare_at),
                available: self.available.is_valid(at).then(|| self.available.value(at)),
                source: source.filter(|_| self.tells_sources),
            }
        })
    }
}

/// Collects price histories while a part is built.
#[derive(Debug, Default)]
pub(crate) struct HistoryWriter {
    unchanged_since: Vec<Option<i64>>,
    ends: Ends,
    observed_at: Vec<i64>,
    variant: Vec<u64>,
    event: Vec<u8>,
    currency: StringBuilder,
    price: Vec<Option<i64>>,
    compare_at: Vec<Option<i64>>,
    available: Vec<Option<bool>>,
}

impl HistoryWriter {
    /// Adds the points of the next row, newest first, and returns the number of stored points.
    pub(crate) fn push(&mut self, product: &Product, points: &[PricePoint]) -> usize {
        let unchanged_since = unchanged_since(product, points);
        self.unchanged_since.push(unchanged_since.map(Timestamp::micros));
        let kept = if unchanged_since.is_some() { 0 } else { POINTS_MAX };
        for point in points.iter().take(kept) {
            self.observed_at.push(point.observed_at.micros());
            self.variant.push(point.variant.0);
            self.event.push(code(point));
            self.currency.append_value(point.currency.as_str());
            self.price.push(point.price_minor);
            self.compare_at.push(point.compare_at_minor);
            self.available.push(point.available);
        }
        self.ends.close(self.observed_at.len());
        kept.min(points.len())
    }

    pub(crate) fn finish(mut self) -> Result<RecordBatch, ArrowError> {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(self.observed_at)),
            Arc::new(UInt64Array::from(self.variant)),
            Arc::new(UInt8Array::from(self.event)),
            Arc::new(self.currency.finish()),
            Arc::new(Int64Array::from(self.price)),
            Arc::new(Int64Array::from(self.compare_at)),
            Arc::new(BooleanArray::from(self.available)),
        ];
        let points = StructArray::try_new(point_fields(), columns, None)?;
        let points = self
            .ends
            .finish(&item(DataType::Struct(point_fields())), Arc::new(points))?;
        let unchanged_since: ArrayRef = Arc::new(Int64Array::from(self.unchanged_since));
        let notes = HashMap::from([(TELLS_SOURCES.to_owned(), "1".to_owned())]);
        let schema = Schema::clone(&SCHEMA).with_metadata(notes);
        RecordBatch::try_new(Arc::new(schema), vec![unchanged_since, points])
    }
}

/// Returns the code that encodes the event of a point and its source.
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
