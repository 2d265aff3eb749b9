//! Sorts refreshes into commit order and splits them into parts that fit one commit batch.

use super::hash::HashedRefresh;
use crate::LakeError;
use crate::files::bucket;

/// Maximum number of bytes in one commit batch. All rows are in memory together, and no column may exceed 2 GiB.
const TICK_BYTES_MAX: usize = 256 << 20;
const TICK_ROWS_MAX: usize = 1 << 20;

/// Fails if a store occurs twice.
pub(crate) fn sorted(mut refreshes: Vec<HashedRefresh>, buckets: u32) -> Result<Vec<HashedRefresh>, LakeError> {
    let store = |hashed: &HashedRefresh| hashed.refresh.brand.store.clone();
    refreshes.sort_by_cached_key(|hashed| (bucket(&hashed.refresh.brand.store, buckets), store(hashed)));
    let twice = refreshes.windows(2).find(|pair| store(&pair[0]) == store(&pair[1]));
    match twice {
        Some(pair) => Err(LakeError::StoreTwice {
            store: store(&pair[0]).to_string(),
        }),
        None => Ok(refreshes),
    }
}

pub(crate) fn cut(refreshes: Vec<HashedRefresh>) -> Vec<Vec<HashedRefresh>> {
    let (mut parts, mut bytes, mut rows): (Vec<Vec<HashedRefresh>>, usize, usize) = (Vec::new(), 0, 0);
    for hashed in refreshes {
        let products = &hashed.refresh.products;
        let (size, count) = (products.text_bytes, products.len());
        match parts.last_mut() {
            Some(part) if bytes + size <= TICK_BYTES_MAX && rows + count <= TICK_ROWS_MAX => part.push(hashed),
            _ => {
                parts.push(vec![hashed]);
                (bytes, rows) = (0, 0);
            }
        }
        bytes += size;
        rows += count;
    }
    parts
}
