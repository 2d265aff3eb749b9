//! Rows of `product_history`: times at which products appeared, disappeared, or changed their naming.

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
use crate::error::unfit_columns;
use crate::{LakeError, TableName};

/// Columns of `products` in the history, in the history's order.
pub(crate) const KEPT: [&str; 7] = [
    "product_id",
    "platform_product_id",
    "title",
    "handle",
    "vendor",
    "category_id",
    "category_path",
];

/// Columns of `products` that are read for the comparison.
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

/// Products that one store listed before a commit batch.
#[derive(Debug, Default)]
pub(crate) struct ListedProducts {
    pub(crate) brand_slug: String,
    /// Rows of this store only, with the columns [`READ`].
    batches: Vec<RecordBatch>,
    /// End of the crawl that brought these products.
    pub(crate) refreshed_at: Option<Timestamp>,
    /// Ids of products that were gone at some time.
    pub(crate) gone: HashSet<u64>,
}

impl ListedProducts {
    /// The rows must belong to this store.
    pub(crate) fn add(&mut self, batch: &RecordBatch, rows: Range<usize>) -> Result<(), LakeError> {
        if self.brand_slug.is_empty() {
            let slug = Columns::new(TableName::Products, batch).text("brand_slug")?;
            slug.value(rows.start).clone_into(&mut self.brand_slug);
        }
        self.batches.push(batch.slice(rows.start, rows.len()));
        Ok(())
    }

    /// The ids must ascend.
    pub(crate) fn has_all(&self, ids: &[u64]) -> Result<bool, LakeError> {
        let mut listed = places(&self.batches)?.into_iter();
        Ok(ids.iter().all(|id| listed.any(|place| place.id == *id)))
    }

    /// Returns `true` if no product was listed and none is known to be gone.
    pub(crate) fn is_unknown(&self) -> bool {
        self.batches.is_empty() && self.gone.is_empty()
    }
}

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

#[derive(Debug, Clone, Copy)]
struct Place {
    id: u64,
    batch: usize,
    row: usize,
}

/// The positions are ordered by id. The first of several products with one id is used.
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

/// Events of one store in one commit batch, each with the position of the product's row among the earlier and the
/// current record batches.
#[derive(Debug, Default)]
struct Events {
    places: Vec<RowPlace>,
    events: Vec<ProductEvent>,
}

/// Returns a row for each product of the store that appeared, disappeared or changed its naming. `now` has the store's
/// current rows of `products`.
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

/// Returns `first_seen` rows for products that were not known before. The columns of `products` are reused.
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
    interleave(&parts, &indices(places)).map_err(unfit_columns(TableName::ProductHistory))
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
