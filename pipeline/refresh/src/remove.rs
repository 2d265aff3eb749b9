use async_recursion::async_recursion as boxed;
use data_codes::{codes_at, tested_at};
use data_lake::{Lake, LakeError};
use data_model::{BrandSlug, StoreHost, Timestamp};
use data_storage::{ObjectPath, ObjectStore, ObjectStoreExt, Storage};
use futures::TryStreamExt;
use pipeline_crawl::{Registry, RegistryError, hold_at, state_at};

use crate::collapse::held_at;
use crate::ratings::ratings_at;

/// The reason why a brand is not, or not wholly, gone. Removing it again goes on where this stopped.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    /// The registry could not be read or changed.
    #[error("the brand could not be taken out of the registry")]
    Registry(#[from] RegistryError),
    /// The lake could not be changed.
    #[error("the brand could not be taken out of the lake")]
    Lake(#[source] LakeError),
    /// A file that holds the brand's rows is lost, and those of brands that are to stay with them.
    #[error(
        "its rows lie in {path}, which is missing or damaged, with those of {}: put the file back from a copy, or \
         remove these brands too and add all of them again",
        listed(.others)
    )]
    Lost {
        /// The file's path in the lake.
        path: String,
        /// The other brands.
        others: Vec<BrandSlug>,
        /// The lake's words.
        #[source]
        source: LakeError,
    },
    /// The objects that are kept of it besides the lake could not be looked at or deleted.
    #[error("a file of the brand could not be deleted: {path}")]
    Known {
        /// The place of one.
        path: ObjectPath,
        /// The storage's words.
        #[source]
        source: object_store::Error,
    },
}

/// The places of a store's single objects besides the lake, in the order in which they are forgotten.
fn known_at(store: &StoreHost) -> [ObjectPath; 8] {
    let of_step = |name: &str| ObjectPath::from_iter(["crawl-state", &format!("{store}-{name}")]);
    [
        state_at(store),
        held_at(store),
        ratings_at(store),
        // Notes of the steps that read review apps and shipping terms on how far they are.
        of_step("widget.json.zst"),
        of_step("shipping.json"),
        codes_at(store),
        tested_at(store),
        hold_at(store),
    ]
}

/// Every object about a store besides the lake and the landing, which forgets by itself: what [`remove_brand`] forgets
/// last.
///
/// # Errors
/// [`RemoveError::Known`] if the storage fails.
#[boxed]
pub async fn files_of(storage: &Storage, store: &StoreHost) -> Result<Vec<ObjectPath>, RemoveError> {
    let mut files = Vec::new();
    // The texts that it answered when it was asked for its shipping terms, and what its review app answered.
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

/// Takes a brand out of the registry and of the lake, and forgets what was known of its crawls and what it said of codes and
/// shipping. Its slug stays reserved. A removal that broke off can be repeated until it is done.
///
/// # Errors
/// [`RegistryError::Unknown`] if no brand ever had the slug; see [`RemoveError`].
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
    // First of all no run may bring it back.
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

/// Takes the store out of the lake. Where its rows are lost with those of others, it goes with these if none of them is
/// registered any more: only then nothing that was in the file is needed.
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
