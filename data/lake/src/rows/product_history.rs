//! Rows of `product_history`: when products came, went, and were called otherwise.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array, StringArray, new_null_array};
use arrow::compute::interleave;
use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;
use data_model::{StoreHost, Timestamp};

use super::catalogue::{repeated, repeated_moment};
use super::columns::{Columns, moments};
use super::history::ObservationContext;
use super::place::{RowPlace, indices};
use super::{batch, id_from_column, id_to_column};
use crate::{LakeError, TableName};

/// The columns of `products` that the history keeps, in the history's order.
pub(crate) const KEPT: [&str; 7] = [
    "product_id",
    "platform_product_id",
    "title",
    "handle",
    "vendor",
    "category_id",
    "category_path",
];

/// The columns of `products` that are read to be compared.
pub(crate) const READ: &[&str] = &[
    "store",
    "brand_slug",
    "product_id",
    "platform_product_id",
    "handle",
    "title",
    "vendor",
    "category_id",
    "category_path",
];

/// An event in the history of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProductEvent {
    FirstSeen,
    Changed,
    Gone,
    Returned,
}

impl ProductEvent {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::FirstSeen => "first_seen",
            Self::Changed => "changed",
            Self::Gone => "gone",
            Self::Returned => "returned",
        }
    }
}

/// The products that one store listed before a tick.
#[derive(Debug, Default)]
pub(crate) struct ListedProducts {
    pub(crate) brand_slug: String,
    /// Rows with the columns [`READ`], of this store alone.
    batches: Vec<RecordBatch>,
    /// End of the crawl that brought the content of then.
    pub(crate) refreshed_at: Option<Timestamp>,
    /// Products that were gone at some time.
    pub(crate) gone: HashSet<u64>,
}

impl ListedProducts {
    /// Adds the rows `rows` of a batch, which are this store's.
    pub(crate) fn add(&mut self, batch: &RecordBatch, rows: Range<usize>) -> Result<(), LakeError> {
        if self.brand_slug.is_empty() {
            let slug = Columns::new(TableName::Products, batch).text("brand_slug")?;
            slug.value(rows.start).clone_into(&mut self.brand_slug);
        }
        self.batches.push(batch.slice(rows.start, rows.len()));
        Ok(())
    }

    /// `true` for each of these products, whose ids ascend, that was listed.
    pub(crate) fn has_all(&self, ids: &[u64]) -> Result<bool, LakeError> {
        let mut listed = places(&self.batches)?.into_iter();
        Ok(ids.iter().all(|id| listed.any(|place| place.id == *id)))
    }

    /// `true` where nothing was listed, and nothing is known to be gone.
    pub(crate) fn is_unknown(&self) -> bool {
        self.batches.is_empty() && self.gone.is_empty()
    }
}

/// The columns of a batch that are compared.
#[derive(Debug)]
struct ComparedColumns<'a> {
    handle: &'a StringArray,
    title: &'a StringArray,
    vendor: &'a StringArray,
    category_id: &'a Int64Array,
}

impl<'a> ComparedColumns<'a> {
    fn of(batch: &'a RecordBatch) -> Result<Self, LakeError> {
        let columns = Columns::new(TableName::Products, batch);
        Ok(Self {
            handle: columns.text("handle")?,
            title: columns.text("title")?,
            vendor: columns.text("vendor")?,
            category_id: columns.int("category_id")?,
        })
    }

    fn are_equal(&self, row: usize, other: &Self, at: usize) -> bool {
        self.title.value(row) == other.title.value(at)
            && self.handle.value(row) == other.handle.value(at)
            && text(self.vendor, row) == text(other.vendor, at)
            && number(self.category_id, row) == number(other.category_id, at)
    }
}

fn text(column: &StringArray, row: usize) -> Option<&str> {
    column.is_valid(row).then(|| column.value(row))
}

fn number(column: &Int64Array, row: usize) -> Option<i64> {
    column.is_valid(row).then(|| column.value(row))
}

/// The place of a product in batches.
#[derive(Debug, Clone, Copy)]
struct Place {
    id: u64,
    batch: usize,
    row: usize,
}

/// The products of batches by their ids, each once: of several with one id the first counts.
fn places(batches: &[RecordBatch]) -> Result<Vec<Place>, LakeError> {
    let mut places = Vec::with_capacity(batches.iter().map(RecordBatch::num_rows).sum());
    for (batch, rows) in batches.iter().enumerate() {
        let ids = Columns::new(TableName::Products, rows).int("platform_product_id")?;
        let place = |(row, id): (usize, &i64)| Place {
            id: id_from_column(*id),
            batch,
            row,
        };
        places.extend(ids.values().iter().enumerate().map(place));
    }
    if !places.is_sorted_by_key(|place| place.id) {
        places.sort_by_key(|place| place.id);
    }
    places.dedup_by_key(|place| place.id);
    Ok(places)
}

/// The events of one tick of one store: of each where the product's row stands among the batches of before and of now.
#[derive(Debug, Default)]
struct Events {
    places: Vec<RowPlace>,
    events: Vec<ProductEvent>,
}

/// The rows for each product of the store that came, went or is called otherwise; `now` are its rows of `products`.
pub(crate) fn product_events(
    store: &StoreHost,
    brand_slug: Option<&str>,
    before: &ListedProducts,
    now: &[RecordBatch],
    observed: ObservationContext<'_>,
) -> Result<Option<RecordBatch>, LakeError> {
    let events = events(before, now)?;
    if events.places.is_empty() {
        return Ok(None);
    }
    let rows = events.places.len();
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(
            events.events.iter().map(|event| event.as_str()),
        )),
        repeated(store.as_str(), rows),
        repeated(brand_slug.unwrap_or(&before.brand_slug), rows),
    ];
    for name in KEPT {
        columns.push(gathered(name, &before.batches, now, &events.places)?);
    }
    let last_seen = |event: &ProductEvent| before.refreshed_at.filter(|_| *event == ProductEvent::Gone);
    columns.push(moments(events.events.iter().map(last_seen)));
    columns.extend(observation(observed, rows));
    batch(TableName::ProductHistory, columns).map(Some)
}

/// The rows that say of products that nobody knew that they are there: the columns of `products` themselves.
pub(crate) fn first_seen(products: &RecordBatch, observed: ObservationContext<'_>) -> Result<RecordBatch, LakeError> {
    let rows = products.num_rows();
    let shared = |name: &'static str| {
        let columns = Columns::new(TableName::Products, products);
        let column = products.column_by_name(name).cloned();
        column.ok_or_else(|| columns.invalid(name, "its absence"))
    };
    let mut columns: Vec<ArrayRef> = vec![
        repeated(ProductEvent::FirstSeen.as_str(), rows),
        shared("store")?,
        shared("brand_slug")?,
    ];
    for name in KEPT {
        columns.push(shared(name)?);
    }
    columns.push(moments(std::iter::repeat_n(None, rows)));
    columns.extend(observation(observed, rows));
    batch(TableName::ProductHistory, columns)
}

/// When, by which run and in which tick it was observed.
fn observation(observed: ObservationContext<'_>, rows: usize) -> [ArrayRef; 3] {
    [
        repeated_moment(observed.at, rows),
        match observed.run {
            Some(run) => repeated(run.as_str(), rows),
            None => new_null_array(&DataType::Utf8, rows),
        },
        Arc::new(Int64Array::from_value(id_to_column(observed.tick), rows)),
    ]
}

fn gathered(
    name: &'static str,
    before: &[RecordBatch],
    now: &[RecordBatch],
    places: &[RowPlace],
) -> Result<ArrayRef, LakeError> {
    let mut parts: Vec<&dyn Array> = Vec::with_capacity(before.len() + now.len());
    for batch in before.iter().chain(now) {
        let column = batch.column_by_name(name);
        let columns = Columns::new(TableName::Products, batch);
        parts.push(column.ok_or_else(|| columns.invalid(name, "its absence"))?.as_ref());
    }
    interleave(&parts, &indices(places)).map_err(|source| LakeError::Columns {
        table: TableName::ProductHistory.as_str(),
        source,
    })
}

fn events(before: &ListedProducts, now: &[RecordBatch]) -> Result<Events, LakeError> {
    let (old, new) = (places(&before.batches)?, places(now)?);
    let old_facts = before
        .batches
        .iter()
        .map(ComparedColumns::of)
        .collect::<Result<Vec<_>, _>>()?;
    let new_facts = now.iter().map(ComparedColumns::of).collect::<Result<Vec<_>, _>>()?;
    let behind = before.batches.len();
    let (mut events, mut old, mut new) = (
        Events::default(),
        old.into_iter().peekable(),
        new.into_iter().peekable(),
    );
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return Ok(events),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(was), Some(is)) => was.id.cmp(&is.id),
        };
        let was = old.next_if(|_| order != Ordering::Greater);
        let is = new.next_if(|_| order != Ordering::Less);
        let event = match (was, is) {
            (Some(was), Some(is)) => {
                let (was_facts, is_facts) = (&old_facts[was.batch], &new_facts[is.batch]);
                if is_facts.are_equal(is.row, was_facts, was.row) {
                    continue;
                }
                ProductEvent::Changed
            }
            (Some(_), None) => ProductEvent::Gone,
            (None, Some(is)) if before.gone.contains(&is.id) => ProductEvent::Returned,
            (None, _) => ProductEvent::FirstSeen,
        };
        let told = is.map(|is| RowPlace {
            batch: behind + is.batch,
            row: is.row,
        });
        let known = was.map(|was| RowPlace {
            batch: was.batch,
            row: was.row,
        });
        let Some(place) = told.or(known) else {
            continue;
        };
        events.places.push(place);
        events.events.push(event);
    }
}
