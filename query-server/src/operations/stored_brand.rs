use data_index::BrandEntry;
use data_model::{BrandSlug, StoreHost, StoredBrand};

use super::OperationError;
use crate::served::ReleaseView;
use crate::server::QueryServer;

/// A name by which a brand is looked up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum BrandKey {
    /// Its slug.
    Slug(BrandSlug),
    /// The host of its store: the domain that shoppers see, with or without `www.`, or the permanent one. Small and
    /// capital letters are the same.
    Domain(String),
    /// The permanent host of its store.
    Store(StoreHost),
}

impl QueryServer {
    /// The facts with which a brand's store is asked; `None` where the current release does not have the brand.
    ///
    /// # Errors
    /// `NotReady`.
    pub fn stored_brand(&self, key: &BrandKey) -> Result<Option<StoredBrand>, OperationError> {
        self.at_once(|served| Ok(entry_of(served, key).map(stored)))
    }
}

/// The brand that a key stands for.
pub(super) fn entry_of<'s>(served: &'s ReleaseView, key: &BrandKey) -> Option<&'s BrandEntry> {
    match key {
        BrandKey::Slug(slug) => served.release.brand_by_slug(slug),
        BrandKey::Domain(domain) => served.brand_by_domain(domain),
        BrandKey::Store(store) => served.release.brand_by_store(store),
    }
}

pub(super) fn stored(entry: &BrandEntry) -> StoredBrand {
    let brand = &entry.facts.brand;
    StoredBrand {
        store: brand.store.clone(),
        slug: brand.slug.clone(),
        name: brand.name.clone(),
        domain: brand.domain.clone(),
        base_url: brand.base_url.clone(),
        currency: brand.currency,
        crawl_country: brand.crawl_country.clone(),
        refreshed_at: entry.facts.refreshed_at,
    }
}
