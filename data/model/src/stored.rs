use serde::{Deserialize, Serialize};

use crate::{BrandSlug, CurrencyCode, ProductId, ProductKey, ProductUid, ReleaseId, StoreHost, Timestamp, VariantId};

/// A brand as the current release has it: what is needed to ask its store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredBrand {
    /// The permanent host of its store.
    pub store: StoreHost,
    /// Its public name in paths.
    pub slug: BrandSlug,
    /// Its display name.
    pub name: String,
    /// The domain that shoppers see.
    pub domain: String,
    /// The store's base URL, without a slash at the end.
    pub base_url: String,
    /// The currency its prices are stated in.
    pub currency: CurrencyCode,
    /// The country that its prices were asked for; see [`crate::Brand::crawl_country`].
    #[serde(default)]
    pub crawl_country: Option<String>,
    /// When a crawl found its catalogue as the release has it.
    pub refreshed_at: Timestamp,
}

/// A variant as the current release has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredVariant {
    /// The platform's id.
    pub id: VariantId,
    /// Its title; empty for the one default variant.
    pub title: String,
    /// Stock keeping unit, where stated.
    pub sku: Option<String>,
    /// Price in minor units of the product's currency.
    pub price_minor: i64,
    /// List price, only where it is above the price.
    pub compare_at_minor: Option<i64>,
    /// `true` where the store would sell it.
    pub available: bool,
}

/// A product as the current release has it: what is needed to ask its store for it, and what stands in for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredProduct {
    /// Its id.
    pub id: ProductId,
    /// Its other id.
    pub product_uid: ProductUid,
    /// The platform's own id of it.
    pub platform_id: u64,
    /// The number of its brand among the answer's brands.
    pub brand: usize,
    /// The store's own name of it in URLs.
    pub handle: String,
    /// Its title.
    pub title: String,
    /// Its store's text about it, or the beginning of that; empty where there is none.
    #[serde(default)]
    pub description: String,
    /// The currency of its prices.
    pub currency: CurrencyCode,
    /// `true` where all its variants are known.
    pub variants_complete: bool,
    /// Its variants as far as they are known, in the store's order; never empty.
    pub variants: Vec<StoredVariant>,
}

impl StoredProduct {
    /// Its natural key, given the brand that sells it.
    #[must_use]
    pub fn key(&self, brand: &StoredBrand) -> ProductKey {
        ProductKey {
            store: brand.store.clone(),
            platform_id: self.platform_id,
        }
    }
}

/// The products and variants of some idents, all in one release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedProducts {
    /// The release.
    pub release: ReleaseId,
    /// The brands that sell the products, each once.
    pub brands: Vec<StoredBrand>,
    /// One entry for each ident, in the order asked; `None` where the release has no such product.
    pub products: Vec<Option<StoredProduct>>,
}

/// The place where a store states a discount code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodePlace {
    /// On its front page, in an announcement bar mostly.
    FrontPage,
    /// In one of its policies.
    Policy,
}

/// A discount code as a store states it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedCode {
    /// In capital letters: the platform does not tell them from small ones.
    pub code: String,
    /// Its place.
    pub place: CodePlace,
    /// The plainness with which the words around it say that it is one, from 1; higher is plainer.
    pub plainness: u8,
}

/// A brand with what is needed to test codes at its store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredShop {
    /// The release.
    pub release: ReleaseId,
    /// The brand.
    pub brand: StoredBrand,
    /// Codes that its store states, the plainest first.
    pub codes: Vec<StatedCode>,
    /// A few products that the store would sell, the one that stands for all of them best first; each sold by `brand`,
    /// whose place is 0.
    pub samples: Vec<StoredProduct>,
}
