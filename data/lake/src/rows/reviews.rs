use arrow::array::{Float32Array, Int64Builder, StringArray, StringBuilder, TimestampMicrosecondArray};
use arrow::record_batch::RecordBatch;
use data_model::{Brand, ProductKey, Review, Timestamp};

use super::build::{StoreColumns, table_rows};
use super::columns::{Columns, some_moment, some_text};
use super::record::{Record, record};
use super::{count, id_to_column};
use crate::{LakeError, TableName};

table_rows! {
    ReviewRows of Reviews {
        store: StoreColumns,
        product_id: StringBuilder,
        platform_product_id: Int64Builder,
        position: Int64Builder,
        review: ReviewBuilder,
    }
}

record! {
    /// Builder of reviews.
    ReviewBuilder of Review {
        rating: f32,
        author: Option<String>,
        title: Option<String>,
        body: String,
        created_at: Option<Timestamp>,
    }
}

impl ReviewRows {
    pub(crate) fn push(&mut self, bucket: i32, brand: &Brand, platform_id: u64, reviews: &[Review]) {
        let key = ProductKey {
            store: brand.store.clone(),
            platform_id,
        };
        let product_id = key.id().to_string();
        for (position, review) in reviews.iter().enumerate() {
            self.store.push(bucket, &brand.store, brand.slug.as_str());
            self.product_id.append_value(&product_id);
            self.platform_product_id.append_value(id_to_column(platform_id));
            self.position.append_value(count(position));
            review.append(&mut self.review);
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
