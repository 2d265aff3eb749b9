use std::collections::BTreeMap;

use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, StoreHost, Timestamp};
use data_storage::Storage;

use super::change::TRIES_MAX;
use super::identity::host_of;
use super::{RegisteredBrand, Registry, RegistryError, RegistryEvent};
use crate::StoreFacts;

/// Facts that a registered store states about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedFacts {
    /// Key of the store's brand.
    pub store: StoreHost,
    /// Facts that the store states.
    pub facts: StoreFacts,
}

impl Registry {
    /// Records, in one event, the store identities that crawls found. One store cannot be two brands. The brands whose
    /// store already belongs to another brand are returned by key, each with that other brand. Brands that are no
    /// longer registered are skipped.
    ///
    /// # Errors
    /// See [`RegistryError`]. After an error, nothing was changed.
    #[boxed]
    pub async fn identify(
        &mut self,
        storage: &Storage,
        stated: &[StatedFacts],
        now: Timestamp,
    ) -> Result<BTreeMap<StoreHost, BrandSlug>, RegistryError> {
        for _ in 0..TRIES_MAX {
            let (mut planned, mut brands, mut others) = (self.clone(), Vec::new(), BTreeMap::new());
            for StatedFacts { store, facts } in stated {
                let Some(known) = planned.live.get(store) else { continue };
                let identity = facts.identity();
                let holder = planned.holder(&identity, false);
                if let Some(holder) = holder.filter(|holder| holder.store != *store) {
                    others.insert(store.clone(), holder.slug.clone());
                    continue;
                }
                let brand = RegisteredBrand {
                    host: host_of(store, known, identity.host),
                    // A known id never changes, because a store may claim any id later.
                    shop_id: known.shop_id.or(identity.shop_id),
                    ..known.clone()
                };
                if brand != *known {
                    brands.push(brand.clone());
                    planned.live.insert(store.clone(), brand);
                }
            }
            if brands.is_empty() || self.write(storage, RegistryEvent::Add { at: now, brands }).await? {
                return Ok(others);
            }
        }
        Err(RegistryError::Contended)
    }
}
