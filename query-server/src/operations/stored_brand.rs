use data_index::BrandEntry;
use data_model::{BrandSlug, StoreHost, StoredBrand};

use super::OperationError;
use crate::served::ReleaseView;
use crate::server::QueryServer;

/// Key by which a brand is looked up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum BrandKey {
    /// Slug of the brand.
    Slug(BrandSlug),
    /// Host of the brand's store in any case: the public domain, with or without `www.`, or the permanent host.
    Domain(String),
    /// Permanent host of the brand's store.
    Store(StoreHost),
}

impl QueryServer {
    /// Returns the facts for requests to a brand's store; `None` if the current release does not have the brand.
    ///
    /// # Errors
    /// `NotReady`.
    pub fn stored_brand(&self, key: &BrandKey) -> Result<Option<StoredBrand>, OperationError> {
        self.at_once(|served| Ok(entry_of(served, key).map(stored)))
    }
}

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
