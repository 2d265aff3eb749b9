//! The brands that are crawled: an append-only log of events, folded when it is loaded.

mod change;
mod identify;
mod identity;
mod lost;
mod named;
mod names;
mod slug;

use std::collections::BTreeMap;

use data_model::{BrandSlug, CurrencyCode, StoreHost, Timestamp};
use serde::{Deserialize, Serialize};
use url::Url;

pub use change::{Addition, RegistryError};
pub use identify::StatedFacts;
pub(crate) use identity::StoreIdentity;
pub use lost::RegistryRepair;
pub use named::NotRegistered;
pub use names::DisplayNames;

use crate::StoreFacts;

/// A brand as it is registered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisteredBrand {
    /// The permanent host of its store when it was registered: the brand's key, which stays where the host is renamed.
    pub store: StoreHost,
    /// The permanent host that its store states, where that is another than the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<StoreHost>,
    /// The platform's id of its store, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shop_id: Option<u64>,
    /// Its public name in paths. Given once, never changed, never given to another store.
    pub slug: BrandSlug,
    /// Its display name: the operator's, or the store's own when it was registered, with the domain beside it where it was
    /// another brand's.
    pub name: String,
    /// The operator set the name, so that the store's own does not replace it.
    #[serde(default)]
    pub name_pinned: bool,
    /// The domain that shoppers see, with its port when it is not the scheme's own.
    pub domain: String,
    /// The address at which its store answers.
    pub base_url: Url,
    /// The currency of its prices, where the operator knows better than the store says.
    #[serde(default)]
    pub currency: Option<CurrencyCode>,
    /// ISO 3166-1 alpha-2, used where the store does not say.
    #[serde(default)]
    pub country: Option<String>,
    /// The moment at which it was registered first.
    pub added_at: Timestamp,
}

impl RegisteredBrand {
    /// The base URL as brands state it: without a slash at the end.
    #[must_use]
    pub fn base_url_text(&self) -> &str {
        self.base_url.as_str().trim_end_matches('/')
    }

    /// The permanent host of its store, unless its domain stands in for one that was not known when it was registered.
    pub(crate) fn permanent_host(&self) -> Option<&StoreHost> {
        let stands_in = self.domain.parse().is_ok_and(|domain: StoreHost| domain == self.store);
        (!stands_in || self.store.as_str().ends_with(PLATFORM_DOMAIN)).then_some(&self.store)
    }
}

/// The domain under which the platform gives every store a host for good.
pub(crate) const PLATFORM_DOMAIN: &str = ".myshopify.com";

/// A brand to register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBrand {
    /// The permanent host of its store, where known; else the domain stands for it.
    pub store: Option<StoreHost>,
    /// The platform's id of its store, where known.
    pub shop_id: Option<u64>,
    /// Its display name; the domain where nobody knows one.
    pub name: Option<String>,
    /// The operator set the name.
    pub name_pinned: bool,
    /// The address at which its store answers: `http` or `https`, with a host.
    pub base_url: Url,
    /// The currency of its prices, where the operator knows better than the store says.
    pub currency: Option<CurrencyCode>,
    /// ISO 3166-1 alpha-2.
    pub country: Option<String>,
    /// A brand whose store has this permanent host, or this id, and that is registered at another address has moved here, as
    /// the operator says. A store may claim any host.
    pub moved: bool,
}

impl NewBrand {
    /// A brand of which only the address is known.
    #[must_use]
    pub const fn at(base_url: Url) -> Self {
        Self {
            store: None,
            shop_id: None,
            name: None,
            name_pinned: false,
            base_url,
            currency: None,
            country: None,
            moved: false,
        }
    }

    /// This brand with what its store says of itself, where it says anything; what the operator gave stays.
    #[must_use]
    pub fn with_facts(mut self, facts: Option<&StoreFacts>) -> Self {
        let Some(facts) = facts else { return self };
        self.store = self.store.or_else(|| facts.permanent_host.clone());
        self.shop_id = self.shop_id.or(facts.shop_id);
        self.name = self.name.or_else(|| facts.name.clone());
        self.country = self.country.or_else(|| facts.country.clone());
        self
    }

    /// This brand under the name that the operator wants shown.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        let name = name.trim();
        if !name.is_empty() {
            self.name = Some(name.to_owned());
            self.name_pinned = true;
        }
        self
    }
}

/// An event of the registry, as its log keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum RegistryEvent {
    /// Brands were registered, or what is registered of them changed.
    Add {
        at: Timestamp,
        brands: Vec<RegisteredBrand>,
    },
    /// Brands were taken out.
    Remove { at: Timestamp, slugs: Vec<BrandSlug> },
}

/// The brands registered at one point of the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registry {
    live: BTreeMap<StoreHost, RegisteredBrand>,
    /// Every slug ever given, with the store it belongs to for good.
    slugs: BTreeMap<BrandSlug, StoreHost>,
    /// The number of the last event taken in; the first has 1.
    last_seq: u64,
    /// The numbers of events that are missing or damaged, and their copies too.
    lost: Vec<u64>,
}

impl Registry {
    /// The registered brands, by slug.
    #[must_use]
    pub fn brands(&self) -> Vec<&RegisteredBrand> {
        let mut brands: Vec<_> = self.live.values().collect();
        brands.sort_unstable_by(|one, other| one.slug.cmp(&other.slug));
        brands
    }

    /// The number of brands that are registered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// True where none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// The brand of this slug.
    #[must_use]
    pub fn brand(&self, slug: &BrandSlug) -> Option<&RegisteredBrand> {
        self.slugs.get(slug).and_then(|store| self.live.get(store))
    }

    /// The brand whose store has this permanent host.
    #[must_use]
    pub fn brand_of(&self, store: &StoreHost) -> Option<&RegisteredBrand> {
        self.live.get(store)
    }

    /// The store that has this slug for good, whether it is registered now or was once.
    #[must_use]
    pub fn store_of(&self, slug: &BrandSlug) -> Option<&StoreHost> {
        self.slugs.get(slug)
    }

    fn apply(&mut self, seq: u64, event: RegistryEvent) {
        match event {
            RegistryEvent::Add { brands, .. } => {
                for brand in brands {
                    self.slugs.insert(brand.slug.clone(), brand.store.clone());
                    self.live.insert(brand.store.clone(), brand);
                }
            }
            RegistryEvent::Remove { slugs, .. } => {
                for slug in slugs {
                    if let Some(store) = self.slugs.get(&slug) {
                        self.live.remove(store);
                    }
                }
            }
        }
        self.last_seq = self.last_seq.max(seq);
    }

    /// The slug that this store had before, if it had one.
    fn slug_of(&self, store: &StoreHost) -> Option<&BrandSlug> {
        self.slugs
            .iter()
            .find(|(_, owner)| *owner == store)
            .map(|(slug, _)| slug)
    }
}

/// A URL's host as a domain, with its port when it is not the scheme's own.
pub(crate) fn domain_of(url: &Url) -> Option<String> {
    let host = url.host_str().filter(|_| matches!(url.scheme(), "http" | "https"))?;
    Some(
        url.port()
            .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
    )
}

#[cfg(test)]
mod tests;
