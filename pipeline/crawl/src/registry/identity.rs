use data_model::StoreHost;

use super::{NewBrand, RegisteredBrand, Registry};
use crate::StoreFacts;

/// A store's id at Shopify is permanent, and its permanent host may be renamed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StoreIdentity {
    pub(crate) host: Option<StoreHost>,
    pub(crate) shop_id: Option<u64>,
}

impl StoreIdentity {
    /// One matching identifier is enough, because hosts can be renamed. Returns `None` if nothing can be compared.
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
    /// Returns the brand of a store. Only the host decides, unless the operator says that a brand `moved`, because a
    /// store may claim any host and any id. An id shared by several brands identifies none of them.
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
}

/// Returns the host to be registered in addition to the key: the stated host if it differs from the key, or the known
/// one if none is stated.
pub(super) fn host_of(key: &StoreHost, known: &RegisteredBrand, stated: Option<StoreHost>) -> Option<StoreHost> {
    match stated {
        Some(host) => Some(host).filter(|host| host != key),
        None => known.host.clone(),
    }
}
