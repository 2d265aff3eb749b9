use data_model::StoreHost;

use super::{NewBrand, RegisteredBrand, Registry};
use crate::StoreFacts;

/// The marks by which the platform knows a store: its id is for good, its permanent host may be renamed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StoreIdentity {
    pub(crate) host: Option<StoreHost>,
    pub(crate) shop_id: Option<u64>,
}

impl StoreIdentity {
    /// True where both are one store: one of the two that agrees is enough, since hosts are renamed. `None` where nothing can
    /// be compared.
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
    /// The brand whose store this is. The host alone decides, unless the operator says that a brand `moved`: a store
    /// may claim any host and any id, and ids that several brands have identify none.
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

/// The host to register beside the key: the stated one where it is another, else the one that is known.
pub(super) fn host_of(key: &StoreHost, known: &RegisteredBrand, stated: Option<StoreHost>) -> Option<StoreHost> {
    match stated {
        Some(host) => Some(host).filter(|host| host != key),
        None => known.host.clone(),
    }
}
