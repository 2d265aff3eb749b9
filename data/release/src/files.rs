use std::io::Read;
use std::path::Path;

use data_index::columns::{GoneProduct, MatchedPair, gone_file, matches_file};
use data_index::digest::{Hasher, Sha256Hex};
use data_index::{BuildError, FileEntry, MatchesEntry, NewFile, ProductReviews, delivery_file, reviews_file};
use data_model::{DeliverySample, DeliveryZone};

/// Writes a brand's delivery samples and zones to a file in `dir`, named by the hash of its content. `samples` must be
/// sorted by pincode without duplicates. Returns `None` without delivery data.
///
/// # Errors
/// The file cannot be written.
pub fn write_delivery(
    dir: &Path,
    samples: &[DeliverySample],
    zones: &[DeliveryZone],
) -> Result<Option<FileEntry>, BuildError> {
    delivery_file(samples, zones)?.map(|file| write(dir, file)).transpose()
}

/// Writes a review app's data about products to a file in `dir`, named by the hash of its content. `products` must be
/// sorted by id without duplicates. Returns `None` without products.
///
/// # Errors
/// The file cannot be written.
pub fn write_reviews(dir: &Path, products: &[ProductReviews]) -> Result<Option<FileEntry>, BuildError> {
    reviews_file(products)?.map(|file| write(dir, file)).transpose()
}

/// Writes matched product pairs, each in both directions and sorted by id, to a file in `dir`, named by the hash of its
/// content. `rules` is the version of the matching rules.
///
/// # Errors
/// The file cannot be written.
pub fn write_matches(dir: &Path, rules: u32, pairs: &[MatchedPair]) -> Result<MatchesEntry, BuildError> {
    Ok(MatchesEntry {
        rules,
        pairs: pairs.len() as u64,
        file: write(dir, matches_file(pairs)?)?,
    })
}

/// Writes products that are gone, newest first, to a file in `dir`, named by the hash of its content.
///
/// # Errors
/// The file cannot be written.
pub fn write_gone(dir: &Path, products: &[GoneProduct]) -> Result<FileEntry, BuildError> {
    write(dir, gone_file(products)?)
}

fn write(dir: &Path, file: NewFile) -> Result<FileEntry, BuildError> {
    let path = dir.join(file.entry.sha256.to_string());
    std::fs::write(&path, file.bytes).map_err(|source| BuildError::File { path, source })?;
    Ok(file.entry)
}

pub(crate) fn digest_of_file(path: &Path) -> std::io::Result<(Sha256Hex, u64)> {
    let mut file = std::fs::File::open(path)?;
    let mut hasher = Hasher::default();
    let mut buffer = vec![0; 1 << 18];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(hasher.finish());
        }
        hasher.update(buffer.get(..read).unwrap_or_default());
    }
}
