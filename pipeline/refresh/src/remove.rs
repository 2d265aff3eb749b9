use data_lake::{Lake, LakeError};
use data_model::{BrandSlug, StoreHost, Timestamp};
use data_storage::Storage;
use pipeline_crawl::{LandingError, Registry, RegistryError, forget_state};

use crate::collapse::{HeldError, drop_held};
use crate::ratings::Ratings;

/// Why a brand is not, or not wholly, gone. Removing it again goes on where this stopped.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    /// The registry could not be read or changed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The lake could not be changed.
    #[error("the brand could not be taken out of the lake")]
    Lake(#[source] LakeError),
    /// What was known of its crawls could not be deleted.
    #[error("the brand's crawl state could not be deleted")]
    State(#[source] LandingError),
    /// What was held back of it could not be deleted.
    #[error(transparent)]
    Held(#[from] HeldError),
    /// Its ratings could not be deleted.
    #[error("the brand's ratings could not be deleted")]
    Ratings(#[source] object_store::Error),
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
    forget_state(storage, &store).await.map_err(RemoveError::State)?;
    drop_held(storage, &store).await?;
    Ratings::forget(storage, &store).await.map_err(RemoveError::Ratings)?;
    Ok(store)
}
