use data_model::{BrandSlug, CurrencyCode, ReleaseId};

use super::OperationError;
use crate::server::QueryServer;

/// A brand's name, and facts that readers of queries need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrandName {
    /// Its slug.
    pub slug: BrandSlug,
    /// Its name.
    pub name: String,
    /// The currency of its prices.
    pub currency: CurrencyCode,
    /// True where each word of its name stands in more titles and names than the brand has products: then it says other
    /// things as well.
    pub is_plain: bool,
}

impl QueryServer {
    /// The names of all brands with products, those with most products first, and the release that has them.
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
