//! Reviews from each brand's review app. Each brand has one file, so that a new review rewrites only that file and no
//! product is indexed again.

mod table;
mod write;

pub use write::{ProductReviews, reviews_file};

pub(crate) use table::ReviewTable;

use std::sync::LazyLock;

use arrow::datatypes::SchemaRef;

use crate::columns::ReviewColumns;
use crate::columns::table::{Columns, List, columns};

/// Name of the file in the manifest and in errors.
pub(crate) const REVIEWS: &str = "reviews.arrow";

pub(crate) static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(ReviewedColumns::schema);

columns! {
    /// Ratings and reviews of products, by product.
    ReviewedColumns, ReviewedColumnsWriter {
        platform_id: u64,
        source: String,
        rating: Option<f32>,
        rating_count: Option<u32>,
        reviews: List<ReviewColumns>,
    }
}

#[cfg(test)]
mod tests;
