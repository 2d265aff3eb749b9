use arrow::array::{
    Float32Array, Float32Builder, Int32Builder, Int64Builder, StringArray, StringBuilder, TimestampMicrosecondArray,
};
use arrow::record_batch::RecordBatch;
use data_model::{Brand, ProductKey, Review, Timestamp};

use super::build::table_rows;
use super::columns::{Columns, some_moment, some_text};
use super::{count, id_to_column};
use crate::{LakeError, TableName};

table_rows! {
    /// Builder for rows of `reviews`.
    ReviewRows of Reviews {
        bucket: Int32Builder,
        store: StringBuilder,
        brand_slug: StringBuilder,
        product_id: StringBuilder,
        platform_product_id: Int64Builder,
        position: Int64Builder,
        rating: Float32Builder,
        author: StringBuilder,
        title: StringBuilder,
        body: StringBuilder,
        created_at: Vec<Option<Timestamp>>,
    }
}

impl ReviewRows {
    /// Adds the reviews of one product of the brand.
    pub(crate) fn push(&mut self, bucket: i32, brand: &Brand, platform_id: u64, reviews: &[Review]) {
        let key = ProductKey {
            store: brand.store.clone(),
            platform_id,
        };
        let product_id = key.id().to_string();
        for (position, review) in reviews.iter().enumerate() {
            self.bucket.append_value(bucket);
            self.store.append_value(brand.store.as_str());
            self.brand_slug.append_value(brand.slug.as_str());
            self.product_id.append_value(&product_id);
            self.platform_product_id.append_value(id_to_column(platform_id));
            self.position.append_value(count(position));
            self.rating.append_value(review.rating);
            self.author.append_option(review.author.as_deref());
            self.title.append_option(review.title.as_deref());
            self.body.append_value(&review.body);
            self.created_at.push(review.created_at);
        }
    }
}

/// Columns of a record batch of `reviews` that make up a [`Review`].
#[derive(Debug)]
pub(crate) struct ReviewColumns {
    rating: Float32Array,
    author: StringArray,
    title: StringArray,
    body: StringArray,
    created_at: TimestampMicrosecondArray,
}

impl ReviewColumns {
    pub(crate) fn new(batch: &RecordBatch) -> Result<Self, LakeError> {
        let columns = Columns::new(TableName::Reviews, batch);
        Ok(Self {
            rating: columns.float("rating")?.clone(),
            author: columns.text("author")?.clone(),
            title: columns.text("title")?.clone(),
            body: columns.text("body")?.clone(),
            created_at: columns.moment("created_at")?.clone(),
        })
    }

    pub(crate) fn review(&self, row: usize) -> Review {
        Review {
            rating: self.rating.value(row),
            author: some_text(&self.author, row),
            title: some_text(&self.title, row),
            body: self.body.value(row).to_owned(),
            created_at: some_moment(&self.created_at, row),
        }
    }
}
