use data_model::{BrandSlug, CurrencyCode, ReleaseId};

use super::OperationError;
use crate::server::QueryServer;

/// Name of a brand, with facts for the parsing of queries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrandName {
    /// Slug of the brand.
    pub slug: BrandSlug,
    /// Display name of the brand.
    pub name: String,
    /// Currency of the brand's prices.
    pub currency: CurrencyCode,
    /// True if each word of the name occurs in more titles and names than the brand has products. Such a name also has
    /// other meanings.
    pub is_plain: bool,
}

impl QueryServer {
    /// Returns the names of all brands with products, largest brand first, and the id of their release.
    ///
    /// # Errors
    /// `NotReady`.
    pub fn brand_names(&self) -> Result<(ReleaseId, Vec<BrandName>), OperationError> {
        self.at_once(|served| {
            let entries = served.brands_by_size().filter(|entry| entry.product_count > 0);
            let names = entries.map(|entry| {
                let brand = &entry.facts.brand;
                BrandName {
                    slug: brand.slug.clone(),
                    name: brand.name.clone(),
                    currency: brand.currency,
                    is_plain: served.search.is_plain(entry),
                }
            });
            Ok((served.release.id(), names.collect()))
        })
    }
}
