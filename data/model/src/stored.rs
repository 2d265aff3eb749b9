use serde::{Deserialize, Serialize};

use crate::{BrandSlug, CurrencyCode, ProductId, ProductKey, ProductUid, ReleaseId, StoreHost, Timestamp, VariantId};

/// A brand in the current release, with the data needed to query its store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredBrand {
    /// Permanent host of the brand's store.
    pub store: StoreHost,
    /// Public name of the brand in paths.
    pub slug: BrandSlug,
    /// Display name of the brand.
    pub name: String,
    /// Domain that shoppers see.
    pub domain: String,
    /// Base URL of the store, without a trailing slash.
    pub base_url: String,
    /// Currency of the brand's prices.
    pub currency: CurrencyCode,
    /// Country whose prices the crawl requested: see [`crate::Brand::crawl_country`].
    #[serde(default)]
    pub crawl_country: Option<String>,
    /// Time of the crawl that found the catalogue in this release.
    pub refreshed_at: Timestamp,
}

/// A variant in the current release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredVariant {
    /// The platform's id of the variant.
    pub id: VariantId,
    /// Title of the variant. Empty if the product has a single default variant.
    pub title: String,
    /// Stock keeping unit (SKU), if stated.
    pub sku: Option<String>,
    /// Price in minor units of the product's currency.
    pub price_minor: i64,
    /// List price, present only if above the price.
    pub compare_at_minor: Option<i64>,
    /// `true` if the store would sell the variant.
    pub available: bool,
}

/// A product in the current release, with the data for a query to its store, and the stored data that replaces a
/// missing live answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredProduct {
    /// UUID of the product.
    pub id: ProductId,
    /// The product's `sha:` identifier.
    pub product_uid: ProductUid,
    /// The platform's id of the product.
    pub platform_id: u64,
    /// Index of the product's brand in the list of brands in the same response.
    pub brand: usize,
    /// The store's name for the product in URLs.
    pub handle: String,
    /// Title of the product.
    pub title: String,
    /// The store's description of the product, possibly truncated. Empty if there is none.
    #[serde(default)]
    pub description: String,
    /// Currency of the product's prices.
    pub currency: CurrencyCode,
    /// `true` if all variants of the product are known.
    pub variants_complete: bool,
    /// Known variants of the product, in the store's order. Never empty.
    pub variants: Vec<StoredVariant>,
}

impl StoredProduct {
    /// Returns the natural key of the product, given the brand that sells it.
    #[must_use]
    pub fn key(&self, brand: &StoredBrand) -> ProductKey {
        ProductKey {
            store: brand.store.clone(),
            platform_id: self.platform_id,
        }
    }
}

/// Products and variants found for a list of idents, all from one release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedProducts {
    /// Release that contains the products.
    pub release: ReleaseId,
    /// Brands that sell the products, each listed once.
    pub brands: Vec<StoredBrand>,
    /// One entry for each requested ident, in the same order. `None` if the release has no such product.
    pub products: Vec<Option<StoredProduct>>,
}

/// Page of a store's site that states a discount code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodePlace {
    /// The front page, usually in an announcement bar.
    FrontPage,
    /// One of the store's policies.
    Policy,
}

/// A discount code that a store states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedCode {
    /// The code in uppercase, because the platform ignores case in codes.
    pub code: String,
    /// Page that states the code.
    pub place: CodePlace,
    /// Clarity with which the surrounding text marks the code as a discount code, from 1. Higher is clearer.
    pub plainness: u8,
}

/// A brand with the data needed to test discount codes at its store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredShop {
    /// Release that contains the brand.
    pub release: ReleaseId,
    /// Brand whose codes are tested.
    pub brand: StoredBrand,
    /// Codes that the store states, the clearest first.
    pub codes: Vec<StatedCode>,
    /// A few products that the store would sell, the most representative one first. `brand` sells them all, so that
    /// their brand index is 0.
    pub samples: Vec<StoredProduct>,
}
