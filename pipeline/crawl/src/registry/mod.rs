//! Brands to crawl, stored as an append-only log of events that is replayed on load.

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

/// Registered brand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisteredBrand {
    /// Permanent host of the brand's store at registration. It is the brand's key and does not change if the store's
    /// host is renamed.
    pub store: StoreHost,
    /// Permanent host that the store states, if it differs from the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<StoreHost>,
    /// Shopify's id of the store, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shop_id: Option<u64>,
    /// The brand's name in public URL paths. A slug never changes and is never given to another store.
    pub slug: BrandSlug,
    /// Display name, from the operator or from the store at registration. If another brand already had that name, the
    /// domain is appended.
    pub name: String,
    /// True if the operator set the name. The store's own name then does not replace it.
    #[serde(default)]
    pub name_pinned: bool,
    /// Domain that shoppers see, with its port if that is not the scheme's default.
    pub domain: String,
    /// Base URL of the brand's store.
    pub base_url: Url,
    /// Currency of the brand's prices, if the operator overrides the store's statement.
    #[serde(default)]
    pub currency: Option<CurrencyCode>,
    /// ISO 3166-1 alpha-2 country code, used if the store states none.
    #[serde(default)]
    pub country: Option<String>,
    /// Time of the first registration.
    pub added_at: Timestamp,
}

impl RegisteredBrand {
    /// Returns the base URL without a trailing slash.
    #[must_use]
    pub fn base_url_text(&self) -> &str {
        self.base_url.as_str().trim_end_matches('/')
    }

    /// Returns `None` if only the domain was known at registration.
    pub(crate) fn permanent_host(&self) -> Option<&StoreHost> {
        let stands_in = self.domain.parse().is_ok_and(|domain: StoreHost| domain == self.store);
        (!stands_in || self.store.as_str().ends_with(PLATFORM_DOMAIN)).then_some(&self.store)
    }
}

/// Domain under which Shopify gives every store a permanent host.
pub(crate) const PLATFORM_DOMAIN: &str = ".myshopify.com";

/// Brand to register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBrand {
    /// Permanent host of the store. If it is unknown, the domain is used.
    pub store: Option<StoreHost>,
    /// Shopify's id of the store, if known.
    pub shop_id: Option<u64>,
    /// Display name. If it is unknown, the domain is used.
    pub name: Option<String>,
    /// True if the operator set the name.
    pub name_pinned: bool,
    /// Base URL of the store, with `http` or `https` and a host.
    pub base_url: Url,
    /// Currency of the brand's prices, if the operator overrides the store's statement.
    pub currency: Option<CurrencyCode>,
    /// ISO 3166-1 alpha-2 country code.
    pub country: Option<String>,
    /// True if the operator confirms that a brand with this permanent host or store id has moved here from another
    /// address. Otherwise a matching host is not trusted, because a store may claim any host.
    pub moved: bool,
}

impl NewBrand {
    /// Creates a brand of which only the address is known.
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

    /// Adds the facts that the store states. Values from the operator are kept.
    #[must_use]
    pub fn with_facts(mut self, facts: Option<&StoreFacts>) -> Self {
        let Some(facts) = facts else { return self };
        self.store = self.store.or_else(|| facts.permanent_host.clone());
        self.shop_id = self.shop_id.or(facts.shop_id);
        self.name = self.name.or_else(|| facts.name.clone());
        self.country = self.country.or_else(|| facts.country.clone());
        self
    }

    /// Sets the operator's display name.
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

/// Event of the registry as stored in its log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum RegistryEvent {
    Add {
        at: Timestamp,
        brands: Vec<RegisteredBrand>,
    },
    /// Brands were removed. Their slugs stay reserved.
    Remove { at: Timestamp, slugs: Vec<BrandSlug> },
}

/// Brands registered at one position of the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registry {
    live: BTreeMap<StoreHost, RegisteredBrand>,
    /// All slugs ever assigned. Each permanently belongs to one store.
    slugs: BTreeMap<BrandSlug, StoreHost>,
    /// Events are numbered from 1.
    last_seq: u64,
    /// Events that are missing or damaged together with their copies.
    lost: Vec<u64>,
}

impl Registry {
    /// Returns the registered brands, sorted by slug.
    #[must_use]
    pub fn brands(&self) -> Vec<&RegisteredBrand> {
        let mut brands: Vec<_> = self.live.values().collect();
        brands.sort_unstable_by(|one, other| one.slug.cmp(&other.slug));
        brands
    }

    /// Returns the number of registered brands.
    #[must_use]
    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// Returns true if no brand is registered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// Returns the brand with this slug.
    #[must_use]
    pub fn brand(&self, slug: &BrandSlug) -> Option<&RegisteredBrand> {
        self.slugs.get(slug).and_then(|store| self.live.get(store))
    }

    /// Returns the brand whose store has this permanent host.
    #[must_use]
    pub fn brand_of(&self, store: &StoreHost) -> Option<&RegisteredBrand> {
        self.live.get(store)
    }

    /// Returns the store to which the slug permanently belongs, even if it is no longer registered.
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

    /// Returns the earlier slug of this store.
    fn slug_of(&self, store: &StoreHost) -> Option<&BrandSlug> {
        self.slugs
            .iter()
            .find(|(_, owner)| *owner == store)
            .map(|(slug, _)| slug)
    }
}

/// The port is omitted if it is the scheme's default.
pub(crate) fn domain_of(url: &Url) -> Option<String> {
    let host = url.host_str().filter(|_| matches!(url.scheme(), "http" | "https"))?;
    Some(
        url.port()
            .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
    )
}

#[cfg(test)]
mod tests;
