use std::io::Read;
use std::path::Path;

use data_index::columns::{GoneProduct, MatchedPair, gone_file, matches_file};
use data_index::digest::{Hasher, Sha256Hex};
use data_index::{BuildError, FileEntry, MatchesEntry, NewFile, ProductReviews, delivery_file, reviews_file};
use data_model::{DeliverySample, DeliveryZone};

/// Writes what is known of delivery by one brand, sorted by pincode and each pincode once, with its zones, to `dir` under the
/// hash of its content; `None` when nothing is known.
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

/// Writes what a review app says of products, sorted by id and each once, to `dir` under the hash of its content; `None`
/// when there is nothing.
///
/// # Errors
/// The file cannot be written.
pub fn write_reviews(dir: &Path, products: &[ProductReviews]) -> Result<Option<FileEntry>, BuildError> {
    reviews_file(products)?.map(|file| write(dir, file)).transpose()
}

/// Writes pairs, each in both directions and sorted by ids, to `dir` under the hash of their content. `rules` is the version of
/// what found them.
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

/// Writes products that went, the newest first, to `dir` under the hash of their content.
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

/// Digest and size of a local file.
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
