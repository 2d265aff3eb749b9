//! Reduces rows to flat columns for counting. A missing value becomes a flag, so that long texts and lists are not
//! carried along.

use arrow::array::{Array, BooleanArray, Int64Array, ListArray, RecordBatch, StringArray};
use arrow::error::ArrowError;

use crate::figures::{Field, PRICE_MAX};

/// Columns of `products` that [`crate::figures`] needs.
pub const COLUMNS: &[&str] = &[
    "store",
    "platform_product_id",
    "handle",
    "title",
    "description",
    "vendor",
    "product_type",
    "category_id",
    "tags",
    "media",
    "currency",
    "price_min_minor",
];

/// Columns of `products` that [`crate::moves`] needs.
pub const PRICE_COLUMNS: &[&str] = &["store", "platform_product_id", "title", "currency", "price_min_minor"];

/// Reason why the figures could not be computed.
#[derive(Debug, thiserror::Error)]
pub enum FiguresError {
    /// A column of `products` is missing or has the wrong type.
    #[error("column {0} is missing or has an unexpected type")]
    Column(&'static str),
    /// The rows could not be assembled.
    #[error("the rows cannot be combined")]
    Arrow(#[from] ArrowError),
}

#[derive(Debug, Clone)]
pub(crate) struct RowColumns {
    pub(crate) store: StringArray,
    pub(crate) id: Int64Array,
    pub(crate) title: StringArray,
    pub(crate) currency: StringArray,
    /// Prices in minor units, from 0 to [`PRICE_MAX`].
    pub(crate) price: Int64Array,
}

#[derive(Debug, Clone)]
pub(crate) struct RowGaps {
    pub(crate) keys: RowColumns,
    pub(crate) handle: StringArray,
    /// Flags for missing fields, in the order of [`Field::ALL`].
    pub(crate) missing: [BooleanArray; Field::ALL.len()],
}

fn typed<'a, A: Array + 'static>(batch: &'a RecordBatch, name: &'static str) -> Result<&'a A, FiguresError> {
    let column = batch
        .column_by_name(name)
        .and_then(|column| column.as_any().downcast_ref());
    column.ok_or(FiguresError::Column(name))
}

impl RowColumns {
    pub(crate) fn of(batch: &RecordBatch) -> Result<Self, FiguresError> {
        let price: &Int64Array = typed(batch, "price_min_minor")?;
        let price = price.iter().map(|price| price.unwrap_or(0).clamp(0, PRICE_MAX));
        Ok(Self {
            store: typed::<StringArray>(batch, "store")?.clone(),
            id: typed::<Int64Array>(batch, "platform_product_id")?.clone(),
            title: typed::<StringArray>(batch, "title")?
                .iter()
                .map(|title| Some(title.unwrap_or("")))
                .collect(),
            currency: typed::<StringArray>(batch, "currency")?.clone(),
            price: Int64Array::from_iter_values(price),
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.store.len()
    }
}

impl RowGaps {
    pub(crate) fn of(batch: &RecordBatch) -> Result<Self, FiguresError> {
        let keys = RowColumns::of(batch)?;
        let text = |name| typed::<StringArray>(batch, name).map(no_text);
        let list = |name| typed::<ListArray>(batch, name).map(no_element);
        let missing = [
            text("title")?,
            text("description")?,
            list("media")?,
            keys.price.iter().map(|price| Some(price.unwrap_or(0) == 0)).collect(),
            arrow::compute::is_null(typed::<Int64Array>(batch, "category_id")?)?,
            text("product_type")?,
            text("vendor")?,
            list("tags")?,
        ];
        Ok(Self {
            keys,
            handle: typed::<StringArray>(batch, "handle")?.clone(),
            missing,
        })
    }
}

fn no_text(texts: &StringArray) -> BooleanArray {
    texts
        .iter()
        .map(|text| Some(text.is_none_or(|text| text.trim().is_empty())))
        .collect()
}

fn no_element(lists: &ListArray) -> BooleanArray {
    let is_empty = |row| lists.is_null(row) || lists.value_length(row) == 0;
    (0..lists.len()).map(|row| Some(is_empty(row))).collect()
}
