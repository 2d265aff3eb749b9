use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use data_model::Timestamp;

use super::super::table::{Columns, text};
use super::rows::{MediaRef, NamedValues, PAGE, ReviewRef, Reviews, VariantRef, moment};
use super::{DetailColumns, SCHEMA};

/// Columns of products that are not on cards.
#[derive(Debug)]
pub struct Details {
    /// First row of each batch in ascending order, followed by the number of rows.
    starts: Vec<u32>,
    batches: Vec<DetailColumns>,
}

impl Details {
    pub(crate) fn schema() -> &'static SchemaRef {
        &SCHEMA
    }

    pub(crate) fn of(batches: &[RecordBatch]) -> Result<Self, ArrowError> {
        let mut starts = vec![0];
        let mut rows = 0_u32;
        for batch in batches {
            let more = u32::try_from(batch.num_rows())
                .ok()
                .and_then(|more| rows.checked_add(more));
            rows = more.ok_or_else(|| ArrowError::InvalidArgumentError("too many rows".to_owned()))?;
            starts.push(rows);
        }
        Ok(Self {
            starts,
            batches: batches.iter().map(DetailColumns::of).collect::<Result<_, _>>()?,
        })
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Returns the details of a row.
    #[must_use]
    pub fn row(&self, row: u32) -> DetailsRow<'_> {
        let batch = self.starts.partition_point(|start| *start <= row) - 1;
        DetailsRow {
            batch: &self.batches[batch],
            at: (row - self.starts[batch]) as usize,
        }
    }
}

/// Details of one product, read in place.
#[derive(Debug, Clone, Copy)]
pub struct DetailsRow<'a> {
    batch: &'a DetailColumns,
    at: usize,
}

impl<'a> DetailsRow<'a> {
    /// Returns the platform's id of the product.
    #[must_use]
    pub fn platform_id(&self) -> u64 {
        self.batch.platform_id.value(self.at)
    }

    /// Returns the handle that the store uses in URLs. The product page is `{base_url}/products/{handle}`.
    #[must_use]
    pub fn handle(&self) -> &'a str {
        self.batch.handle.value(self.at)
    }

    /// Returns the description as plain text, which may be empty.
    #[must_use]
    pub fn description(&self) -> &'a str {
        self.batch.description.value(self.at)
    }

    /// Returns the vendor of the product.
    #[must_use]
    pub fn vendor(&self) -> Option<&'a str> {
        text(&self.batch.vendor, self.at)
    }

    /// Returns the store's own product type.
    #[must_use]
    pub fn product_type(&self) -> Option<&'a str> {
        text(&self.batch.product_type, self.at)
    }

    /// Returns the tags in the store's order.
    pub fn tags(&self) -> impl ExactSizeIterator<Item = &'a str> + Clone + use<'a> {
        let batch = self.batch;
        batch.tags.span(self.at).map(move |at| batch.tags.items.value(at))
    }

    /// Returns the options in the store's order.
    pub fn options(&self) -> impl ExactSizeIterator<Item = NamedValues<'a>> + use<'a> {
        NamedValues::of(&self.batch.options, self.at)
    }

    /// Returns the structured attributes of the product.
    pub fn attributes(&self) -> impl ExactSizeIterator<Item = NamedValues<'a>> + use<'a> {
        NamedValues::of(&self.batch.attributes, self.at)
    }

    /// Returns the images and videos in display order.
    pub fn media(&self) -> impl ExactSizeIterator<Item = MediaRef<'a>> + use<'a> {
        self.batch.media.at(self.at)
    }

    /// Returns the variants in the store's order.
    pub fn variants(&self) -> impl ExactSizeIterator<Item = VariantRef<'a>> + use<'a> {
        self.batch.variants.at(self.at)
    }

    /// Returns the reviews, newest first.
    pub fn reviews(&self) -> impl ExactSizeIterator<Item = ReviewRef<'a>> + use<'a> {
        self.batch.reviews.at(self.at, PAGE)
    }

    pub(crate) fn review_list(&self) -> (&'a Reviews, usize) {
        (&self.batch.reviews, self.at)
    }

    /// Returns the creation time that the store reports.
    #[must_use]
    pub fn created_at(&self) -> Option<Timestamp> {
        moment(&self.batch.created_at, self.at)
    }

    /// Returns the publication time that the store reports.
    #[must_use]
    pub fn published_at(&self) -> Option<Timestamp> {
        moment(&self.batch.published_at, self.at)
    }

    /// Returns the time of the last change that the store reports.
    #[must_use]
    pub fn updated_at(&self) -> Option<Timestamp> {
        moment(&self.batch.updated_at, self.at)
    }
}
