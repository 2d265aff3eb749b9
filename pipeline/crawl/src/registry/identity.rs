use std::collections::BTreeMap;

use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, StoreHost, Timestamp};
use data_storage::Storage;

use super::{Addition, NewBrand, RegisteredBrand, Registry, RegistryError};
use crate::StoreFacts;

/// By what the platform knows a store: its id is for good, its permanent host may be renamed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StoreIdentity {
    pub(crate) host: Option<StoreHost>,
    pub(crate) shop_id: Option<u64>,
}

impl StoreIdentity {
    /// Whether both are one store: one of the two that agrees is enough, since hosts are renamed. `None` where nothing can be
    /// compared.
    pub(crate) fn is_same(&self, other: &Self) -> Option<bool> {
        let hosts = self
            .host
            .as_ref()
            .zip(other.host.as_ref())
            .map(|(one, other)| one == other);
        let ids = self.shop_id.zip(other.shop_id).map(|(one, other)| one == other);
        match (hosts, ids) {
            (None, None) => None,
            (hosts, ids) => Some(hosts == Some(true) || ids == Some(true)),
        }
    }
}

impl StoreFacts {
    pub(crate) fn identity(&self) -> StoreIdentity {
        StoreIdentity {
            host: self.permanent_host.clone(),
            shop_id: self.shop_id,
        }
    }
}

impl RegisteredBrand {
    pub(crate) fn identity(&self) -> StoreIdentity {
        StoreIdentity {
            host: self.host.as_ref().or_else(|| self.permanent_host()).cloned(),
            shop_id: self.shop_id,
        }
    }
}

impl NewBrand {
    pub(super) fn identity(&self) -> StoreIdentity {
        StoreIdentity {
            host: self.store.clone(),
            shop_id: self.shop_id,
        }
    }
}

impl Registry {
    /// The brand whose store this is. The host alone tells, unless the operator says that a brand `moved`: a store may claim any
    /// host and any id, and ids that several brands have tell nothing.
    pub(super) fn holder(&self, of: &StoreIdentity, moved: bool) -> Option<&RegisteredBrand> {
        let host = of.host.as_ref()?;
        let by_host = self.live.get(host).or_else(|| {
            let mut brands = self.live.values();
            brands.find(|brand| brand.identity().host.as_ref() == Some(host))
        });
        by_host.or_else(|| {
            let has_id = |brand: &&RegisteredBrand| brand.shop_id.is_some() && brand.shop_id == of.shop_id;
            let mut brands = self.live.values().filter(|_| moved).filter(has_id);
            let first = brands.next();
            first.filter(|_| brands.next().is_none())
        })
    }

    /// Takes in what crawls found that stores state of their identity, in one event. Answers, by key, the brands whose store is
    /// another brand's, with that brand: one store is no two brands.
    ///
    /// # Errors
    /// See [`RegistryError`]; after an error nothing was changed.
    #[boxed]
    pub async fn identify(
        &mut self,
        storage: &Storage,
        stated: &[(RegisteredBrand, StoreFacts)],
        now: Timestamp,
    ) -> Result<BTreeMap<StoreHost, BrandSlug>, RegistryError> {
        let brands: Vec<_> = stated
            .iter()
            .map(|(brand, facts)| NewBrand {
                store: facts.permanent_host.clone(),
                shop_id: facts.shop_id,
                ..NewBrand::at(brand.base_url.clone())
            })
            .collect();
        let additions = self.add(storage, &brands, now).await?;
        let taken = stated
            .iter()
            .zip(additions)
            .filter_map(|((brand, _), addition)| match addition {
                Addition::Taken(holder) => Some((brand.store.clone(), holder.slug)),
                _ => None,
            });
        Ok(taken.collect())
    }
}
