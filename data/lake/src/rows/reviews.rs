use arrow::array::{Int64Builder, StringBuilder};
use data_model::{Brand, ProductKey, Review, Timestamp};

use super::build::{StoreColumns, table_rows};
use super::record::{Record, record};
use super::{count, id_to_column};

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
