//! Reviews from each brand's review app. Each brand has one file, so a new review rewrites only that file and no
//! product is reindexed.

mod table;
mod write;

pub use write::{ProductReviews, reviews_file};

pub(crate) use table::ReviewTable;

use std::sync::{Arc, LazyLock};

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use crate::columns::review_lists;

/// Name of the file in the manifest and in errors.
pub(crate) const REVIEWS: &str = "reviews.arrow";

pub(crate) static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    Arc::new(Schema::new(vec![
        Field::new("platform_id", DataType::UInt64, false),
        Field::new("source", DataType::Utf8, false),
        Field::new("rating", DataType::Float32, true),
        Field::new("rating_count", DataType::UInt32, true),
        review_lists(),
    ]))
});

#[cfg(test)]
mod tests;
