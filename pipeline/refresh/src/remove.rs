use async_recursion::async_recursion as boxed;
use data_codes::{codes_at, tested_at};
use data_lake::{Lake, LakeError};
use data_model::{BrandSlug, StoreHost, Timestamp};
use data_storage::{ObjectPath, ObjectStore, ObjectStoreExt, Storage};
use futures::TryStreamExt;
use pipeline_crawl::{Registry, RegistryError, hold_at, packed_at, state_at};

use crate::collapse::held_at;

/// Error of removing a brand. Another call continues the removal.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    /// The registry could not be read or changed.
    #[error("the brand could not be removed from the registry")]
    Registry(#[from] RegistryError),
    /// The lake could not be changed.
    #[error("the brand could not be removed from the lake")]
    Lake(#[source] LakeError),
    /// A file with the brand's rows is lost, which also had rows of brands that stay.
    #[error(
        "the brand's rows are in {path}, which is missing or damaged, together with those of {}: restore the file from a \
         copy, or remove these brands too and add all of them again",
        listed(.others)
    )]
    Lost {
        /// Path in the lake.
        path: String,
        /// Slugs of the other brands.
        others: Vec<BrandSlug>,
        /// Error from the lake.
        #[source]
        source: LakeError,
    },
    /// Objects of the brand outside of the lake could not be listed or deleted.
    #[error("a file of the brand could not be deleted: {path}")]
    Known {
        /// One of the objects.
        path: ObjectPath,
        /// Error from the storage.
        #[source]
        source: object_store::Error,
    },
}

/// Returns the paths of a store's single objects outside of the lake, in the order of deletion.
fn known_at(store: &StoreHost) -> [ObjectPath; 10] {
    [
        state_at(store),
        held_at(store),
        packed_at(store, "reviews"),
        packed_at(store, "categories"),
        packed_at(store, "variants"),
        // Progress records of the steps that read review apps and shipping terms.
        packed_at(store, "widget"),
        ObjectPath::from_iter(["crawl-state", &format!("{store}-shipping.json")]),
        codes_at(store),
        tested_at(store),
        hold_at(store),
    ]
}

/// Lists all objects of a store outside of the lake and the landing, which is pruned separately. [`remove_brand`]
/// deletes these objects last.
///
/// # Errors
/// [`RemoveError::Known`] if the storage fails.
#[boxed]
pub async fn files_of(storage: &Storage, store: &StoreHost) -> Result<Vec<ObjectPath>, RemoveError> {
    let mut files = Vec::new();
    // These folders have landed shipping texts, and landed answers of the review app.
    for folder in ["policies", "reviews"] {
        let folder = ObjectPath::from_iter([folder, store.as_str()]);
        let listed = storage.store().list(Some(&folder)).map_ok(|meta| meta.location);
        let texts = listed.try_collect::<Vec<_>>().await;
        files.extend(texts.map_err(|source| RemoveError::Known { path: folder, source })?);
    }
    for path in known_at(store) {
        match storage.store().head(&path).await {
            Ok(_) => files.push(path),
            Err(object_store::Error::NotFound { .. }) => {}
            Err(source) => return Err(RemoveError::Known { path, source }),
        }
    }
    Ok(files)
}

fn listed(brands: &[BrandSlug]) -> String {
    let names: Vec<&str> = brands.iter().map(BrandSlug::as_str).collect();
    names.join(", ")
}

/// Removes a brand from the registry and the lake, and deletes the saved data about its crawls, codes and shipping
/// terms. The brand's slug stays reserved. A removal that failed can be repeated until it succeeds.
///
/// # Errors
/// [`RegistryError::Unknown`] if no brand ever had the slug. See [`RemoveError`].
#[boxed]
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
    // The registry is changed first, so that no run adds the brand again.
    if registry.brand(slug).is_some() {
        registry.remove(storage, slug, now).await?;
    }
    let gone = take_out(lake, &registry, &store).await?;
    for store in &gone {
        for path in files_of(storage, store).await? {
            match storage.store().delete(&path).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(source) => return Err(RemoveError::Known { path, source }),
            }
        }
    }
    Ok(store)
}

/// Removes the store from the lake. If its rows are in a lost file, the file's other stores are removed too, unless one
/// of them is still registered and needs the file's data.
async fn take_out(lake: &Lake, registry: &Registry, store: &StoreHost) -> Result<Vec<StoreHost>, RemoveError> {
    let mut gone = vec![store.clone()];
    loop {
        match lake.remove_brands(&gone).await {
            Ok(_) => return Ok(gone),
            Err(LakeError::Lost { path, brands, source }) => {
                let is_needed = |held: &&(StoreHost, BrandSlug)| registry.may_have(&held.0);
                let others: Vec<BrandSlug> = brands.iter().filter(is_needed).map(|held| held.1.clone()).collect();
                let before = gone.len();
                for (held, _) in &brands {
                    if !gone.contains(held) {
                        gone.push(held.clone());
                    }
                }
                let source = LakeError::Lost {
                    path: path.clone(),
                    brands,
                    source,
                };
                if !others.is_empty() {
                    return Err(RemoveError::Lost { path, others, source });
                }
                if gone.len() == before {
                    return Err(RemoveError::Lake(source));
                }
            }
            Err(error) => return Err(RemoveError::Lake(error)),
        }
    }
}
