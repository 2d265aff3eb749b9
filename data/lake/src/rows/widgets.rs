//! Rows of `widget_reviews` and `widget_ratings`.

use arrow::array::{ArrayRef, BooleanBuilder, Float32Builder, Float64Builder, Int64Builder, StringBuilder};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use data_model::{BrandSlug, ProductKey, Review, ReviewWidget, StoreHost, Timestamp, WidgetRating, WidgetReview};

use super::build::{Column, StoreColumns, table_rows};
use super::columns::Columns;
use super::delivery::StoreRecord;
use super::record::read_record;
use super::{id_from_column, id_to_column};
use crate::{LakeError, TableName};

/// Store of a row, and the time at which its content was first read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) bucket: i32,
    pub(crate) store: &'a StoreHost,
    pub(crate) slug: &'a BrandSlug,
    pub(crate) at: Timestamp,
}

#[derive(Debug, Default)]
struct KeyColumns {
    store: StoreColumns,
    product_id: StringBuilder,
    platform_product_id: Int64Builder,
    source: StringBuilder,
}

impl KeyColumns {
    fn push(&mut self, place: Place<'_>, product: u64, widget: ReviewWidget) {
        let key = ProductKey {
            store: place.store.clone(),
            platform_id: product,
        };
        self.store.push(place.bucket, place.store, place.slug.as_str());
        self.product_id.append_value(key.id().to_string());
        self.platform_product_id.append_value(id_to_column(product));
        self.source.append_value(widget.as_str());
    }
}

impl Column for KeyColumns {
    fn end(&mut self, columns: &mut Vec<ArrayRef>) -> Result<(), ArrowError> {
        self.store.end(columns)?;
        self.product_id.end(columns)?;
        self.platform_product_id.end(columns)?;
        self.source.end(columns)
    }
}

table_rows! {
    WidgetReviewRows of WidgetReviews {
        keyed: KeyColumns,
        review_id: StringBuilder,
        rating: Float32Builder,
        author: StringBuilder,
        title: StringBuilder,
        body: StringBuilder,
        verified: BooleanBuilder,
        created_at: Vec<Option<Timestamp>>,
        observed_at: Vec<Option<Timestamp>>,
    }
}

impl WidgetReviewRows {
    pub(crate) fn push(&mut self, place: Place<'_>, review: &WidgetReview) {
        let WidgetReview {
            widget,
            id,
            product,
            review,
            is_verified,
        } = review;
        self.keyed.push(place, *product, *widget);
        self.observed_at.push(Some(place.at));
        self.review_id.append_value(id);
        self.rating.append_value(review.rating);
        self.author.append_option(review.author.as_deref());
        self.title.append_option(review.title.as_deref());
        self.body.append_value(&review.body);
        self.verified.append_option(*is_verified);
        self.created_at.push(review.created_at);
    }
}

table_rows! {
    WidgetRatingRows of WidgetRatings {
        keyed: KeyColumns,
        average: Float64Builder,
        count: Int64Builder,
        observed_at: Vec<Option<Timestamp>>,
    }
}

impl WidgetRatingRows {
    pub(crate) fn push(&mut self, place: Place<'_>, rating: &WidgetRating) {
        self.keyed.push(place, rating.product, rating.widget);
        self.observed_at.push(Some(place.at));
        self.average.append_value(rating.average);
        self.count.append_value(i64::from(rating.count));
    }
}

pub(crate) fn review_key(widget: ReviewWidget, id: &str) -> String {
    format!("{widget}/{id}")
}

pub(crate) fn rating_key(widget: ReviewWidget, product: u64) -> String {
    format!("{widget}/{product}")
}

pub(crate) fn keys(table: TableName, batch: &RecordBatch) -> Result<Vec<(String, String)>, LakeError> {
    let columns = Columns::new(table, batch);
    let (store, source) = (columns.text("store")?, columns.text("source")?);
    let mut keys = Vec::with_capacity(batch.num_rows());
    if table == TableName::WidgetReviews {
        let id = columns.text("review_id")?;
        keys.extend((0..batch.num_rows()).map(|row| {
            let key = format!("{}/{}", source.value(row), id.value(row));
            (store.value(row).to_owned(), key)
        }));
    } else {
        let id = columns.int("platform_product_id")?;
        keys.extend((0..batch.num_rows()).map(|row| {
            let key = format!("{}/{}", source.value(row), id_from_column(id.value(row)));
            (store.value(row).to_owned(), key)
        }));
    }
    Ok(keys)
}

read_record! {
    WidgetReview {
        widget as source: ReviewWidget,
        id as review_id: String,
        product as platform_product_id: u64,
        is_verified as verified: Option<bool>,
    } nested {
        review: Review,
    }
}

impl StoreRecord for WidgetReview {
    const TABLE: TableName = TableName::WidgetReviews;
}

read_record! {
    WidgetRating {
        widget as source: ReviewWidget,
        product as platform_product_id: u64,
        average as rating_average: f64,
        count as rating_count: u32,
    }
}

impl StoreRecord for WidgetRating {
    const TABLE: TableName = TableName::WidgetRatings;
}
