use data_model::{BrandSlug, StoreHost};

use crate::LakeError;
use crate::files::bucket;

/// Complete new data of one store on a subject that is queried separately from crawls, such as shipping terms or
/// delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreUpdate<T> {
    /// Host of the store.
    pub store: StoreHost,
    /// Brand of the store.
    pub slug: BrandSlug,
    /// New data, which replaces the stored data.
    pub known: T,
}

impl<T> StoreUpdate<T> {
    /// Creates an update of one store.
    #[must_use]
    pub const fn new(store: StoreHost, slug: BrandSlug, known: T) -> Self {
        Self { store, slug, known }
    }
}

/// Fails if a store occurs twice.
pub(super) fn sorted<T>(mut updates: Vec<StoreUpdate<T>>, buckets: u32) -> Result<Vec<StoreUpdate<T>>, LakeError> {
    updates.sort_by_cached_key(|update| (bucket(&update.store, buckets), update.store.clone()));
    match updates.windows(2).find(|pair| pair[0].store == pair[1].store) {
        Some(pair) => Err(LakeError::StoreTwice {
            store: pair[0].store.to_string(),
        }),
        None => Ok(updates),
    }
}
