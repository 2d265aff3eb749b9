use arrow::error::ArrowError;
use data_model::{Rating, Review, ReviewWidget};

use super::{REVIEWS, ReviewedColumns, ReviewedColumnsWriter, SCHEMA};
use crate::columns::table::Columns;
use crate::columns::{ipc, push_review};
use crate::error::BuildError;
use crate::manifest::NewFile;

/// A review app's rating and reviews of one product.
#[derive(Debug, Clone, PartialEq)]
pub struct ProductReviews {
    /// Platform id of the product.
    pub product: u64,
    /// Review app that publishes the reviews.
    pub source: ReviewWidget,
    /// Rating of the product, if the app states one.
    pub rating: Option<Rating>,
    /// Reviews of the product, newest first.
    pub reviews: Vec<Review>,
}

/// Returns the file of a review app's data on products, or `None` without data. `products` must be sorted by id without
/// duplicates.
///
/// # Errors
/// A column cannot be written.
pub fn reviews_file(products: &[ProductReviews]) -> Result<Option<NewFile>, BuildError> {
    if products.is_empty() {
        return Ok(None);
    }
    let bytes = encode(products).map_err(|source| BuildError::Columns { file: REVIEWS, source })?;
    Ok(Some(NewFile::new(REVIEWS, bytes)))
}

fn encode(products: &[ProductReviews]) -> Result<Vec<u8>, ArrowError> {
    let mut columns = ReviewedColumnsWriter::default();
    for product in products {
        columns.platform_id.push(product.product);
        columns.source.append_value(product.source.as_str());
        columns.rating.push(product.rating.map(|rating| rating.average));
        columns.rating_count.push(product.rating.map(|rating| rating.count));
        columns.reviews.push(&product.reviews, push_review);
    }
    ipc::file(&ReviewedColumns::batch(&mut columns, &SCHEMA)?)
}
