use data_lake::{Lake, LakeError};
use data_model::{BrandSlug, StoreHost, Timestamp};
use data_storage::{ObjectPath, ObjectStoreExt, Storage};
use pipeline_crawl::{Registry, RegistryError, state_at};

use crate::collapse::held_at;
use crate::ratings::ratings_at;

/// Why a brand is not, or not wholly, gone. Removing it again goes on where this stopped.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    /// The registry could not be read or changed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The lake could not be changed.
    #[error("the brand could not be taken out of the lake")]
    Lake(#[source] LakeError),
    /// What was known of its crawls could not be looked at or deleted.
    #[error("what is known of the brand's crawls could not be forgotten: {path}")]
    Known {
        /// Where it lies.
        path: ObjectPath,
        /// What the storage said.
        #[source]
        source: object_store::Error,
    },
}

/// What is known of a store's crawls besides the lake, in the order in which it is forgotten.
fn known_at(store: &StoreHost) -> [ObjectPath; 3] {
    [state_at(store), held_at(store), ratings_at(store)]
}

/// Takes a brand out of the registry and of the lake, and forgets what was known of its crawls. Its slug stays
/// reserved. A removal that broke off can be repeated until it is done.
///
/// # Errors
/// [`RegistryError::Unknown`] if no brand ever had the slug; see [`RemoveError`].
pub async fn remove_brand(
    slug: &BrandSlug,
    storage: &Storage,
    lake: &Lake,
    now: Timestamp,
) -> Result<StoreHost, RemoveError> {
    let mut registry = Registry::load(storage).await?;
    let store = registry
        .store_of(slug)
        .cloned()
        .ok_or_else(|| RegistryError::Unknown(slug.clone()))?;
    // First of all no run may bring it back.
    if registry.brand(slug).is_some() {
        registry.remove(storage, slug, now).await?;
    }
    lake.remove_brands(std::slice::from_ref(&store))
        .await
        .map_err(RemoveError::Lake)?;
    for path in known_at(&store) {
        match storage.store().delete(&path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
            Err(source) => return Err(RemoveError::Known { path, source }),
        }
    }
    Ok(store)
}

/// Whether anything is known of a store's crawls besides the lake: what [`remove_brand`] forgets last.
///
/// # Errors
/// [`RemoveError::Known`] if the storage fails.
pub async fn is_known(storage: &Storage, store: &StoreHost) -> Result<bool, RemoveError> {
    for path in known_at(store) {
        match storage.store().head(&path).await {
            Ok(_) => return Ok(true),
            Err(object_store::Error::NotFound { .. }) => {}
            Err(source) => return Err(RemoveError::Known { path, source }),
        }
    }
    Ok(false)
}
