use data_model::{BrandSlug, StoreHost};

use crate::LakeError;
use crate::files::bucket;

/// All that is to be known of one store in a matter that is asked for apart from crawls: its shipping terms, its delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreUpdate<T> {
    /// The store.
    pub store: StoreHost,
    /// Its brand.
    pub slug: BrandSlug,
    /// The knowledge, which replaces what was known.
    pub known: T,
}

impl<T> StoreUpdate<T> {
    /// The knowledge of one store.
    #[must_use]
    pub const fn new(store: StoreHost, slug: BrandSlug, known: T) -> Self {
        Self { store, slug, known }
    }
}

/// By bucket and store, each store once.
pub(super) fn sorted<T>(mut updates: Vec<StoreUpdate<T>>, buckets: u32) -> Result<Vec<StoreUpdate<T>>, LakeError> {
    updates.sort_by_cached_key(|update| (bucket(&update.store, buckets), update.store.clone()));
    match updates.windows(2).find(|pair| pair[0].store == pair[1].store) {
        Some(pair) => Err(LakeError::StoreTwice {
            store: pair[0].store.to_string(),
        }),
        None => Ok(updates),
    }
}
