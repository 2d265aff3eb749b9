use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float32Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow::error::ArrowError;
use data_model::{Rating, Review, ReviewWidget};

use super::{REVIEWS, SCHEMA};
use crate::columns::{ReviewsWriter, ipc};
use crate::digest;
use crate::error::BuildError;
use crate::manifest::FileEntry;

/// A review app's rating and reviews of one product.
#[derive(Debug, Clone, PartialEq)]
pub struct ProductReviews {
    /// The platform's id of the product.
    pub product: u64,
    /// The app.
    pub source: ReviewWidget,
    /// All ratings together, where the app states them.
    pub rating: Option<Rating>,
    /// Its reviews, newest first.
    pub reviews: Vec<Review>,
}

/// Writes what a review app says of products, sorted by id and each once, to `dir` under the hash of its content; `None`
/// when there is nothing.
///
/// # Errors
/// The file cannot be written.
pub fn write_reviews(dir: &Path, products: &[ProductReviews]) -> Result<Option<FileEntry>, BuildError> {
    if products.is_empty() {
        return Ok(None);
    }
    let bytes = encode(products).map_err(|source| BuildError::Columns { file: REVIEWS, source })?;
    let mut hasher = digest::Hasher::default();
    hasher.update(&bytes);
    let (sha256, size_bytes) = hasher.finish();
    let path = dir.join(sha256.to_string());
    let written = File::create(&path).and_then(|mut file| file.write_all(&bytes));
    written.map_err(|source| BuildError::File { path, source })?;
    Ok(Some(FileEntry {
        name: REVIEWS.to_owned(),
        size_bytes,
        sha256,
    }))
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
