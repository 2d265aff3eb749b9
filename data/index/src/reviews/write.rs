use std::sync::Arc;

use arrow::array::{ArrayRef, Float32Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow::error::ArrowError;
use data_model::{Rating, Review, ReviewWidget};

use super::{REVIEWS, SCHEMA};
use crate::columns::{ReviewsWriter, ipc};
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

/// Returns the file of a review app's data on products, or `None` when there is none. The products are sorted by
/// id, and each occurs once.
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
    let mut reviews = ReviewsWriter::default();
    products.iter().for_each(|product| reviews.push(&product.reviews));
    let rating = |product: &ProductReviews| product.rating;
    let ids = products.iter().map(|product| product.product);
    let sources = products.iter().map(|product| product.source.as_str());
    let averages = products.iter().map(rating).map(|rating| Some(rating?.average));
    let counts = products.iter().map(rating).map(|rating| Some(rating?.count));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(UInt64Array::from_iter_values(ids)),
        Arc::new(StringArray::from_iter_values(sources)),
        Arc::new(averages.collect::<Float32Array>()),
        Arc::new(counts.collect::<UInt32Array>()),
        reviews.finish()?,
    ];
    let batch = RecordBatch::try_new(Arc::clone(&SCHEMA), columns)?;
    let mut writer = ipc::writer(Vec::new(), &SCHEMA)?;
    writer.write(&batch)?;
    writer.into_inner()
}
