//! Interface of the catalogue for discovery.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use data_model::{BrandSlug, Classify, CurrencyCode, ErrorCode};
use data_understanding::intent::{BrandNames, NamedBrand, brand_keys};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Searches products and returns facts about them.
#[async_trait]
pub trait Catalogue: fmt::Debug + Send + Sync {
    /// Returns the names of the brands currently in the catalogue.
    ///
    /// # Errors
    /// [`CatalogueError`]
    fn brands(&self) -> Result<Arc<BrandList>, CatalogueError>;

    /// Returns the default currency of amounts.
    fn market_currency(&self) -> CurrencyCode;

    /// Returns the best products, at most 40.
    ///
    /// # Errors
    /// [`CatalogueError`]
    async fn search(&self, search: SearchFor) -> Result<CatalogueHits, CatalogueError>;

    /// Returns the variants, offers and attributes of a product; `None` if the product is gone.
    ///
    /// # Errors
    /// [`CatalogueError`]
    async fn detail(&self, id: &str) -> Result<Option<Detail>, CatalogueError>;
}

/// Failure of the catalogue, as the caller receives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the catalogue does not answer: {}", .0.as_str())]
pub struct CatalogueError(pub ErrorCode);

impl Classify for CatalogueError {
    fn code(&self) -> ErrorCode {
        self.0
    }
}

/// A search with the filters that products must satisfy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchFor {
    /// Search text as a person writes it, at most 512 characters.
    pub text: String,
    /// Minimum price in minor units.
    pub price_min_minor: Option<i64>,
    /// Maximum price in minor units.
    pub price_max_minor: Option<i64>,
    /// Currency of the price limits.
    pub currency: Option<CurrencyCode>,
    /// Brand of the products.
    pub brand: Option<BrandSlug>,
    /// Facets with values. A product must have at least one of the values of each facet.
    pub facets: Vec<(String, Vec<String>)>,
    /// `true` to include sold-out products.
    pub with_sold_out: bool,
    /// Sort order of the results.
    pub order: SearchOrder,
    /// `true` to use the text as plain words without interpreting it.
    pub as_typed: bool,
}

/// Sort order of search results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SearchOrder {
    /// Best match first.
    #[default]
    Relevance,
    /// Lowest price first.
    Cheapest,
    /// Highest price first.
    Dearest,
}

/// Results of a search.
#[derive(Debug, Clone, Default)]
pub struct CatalogueHits {
    /// Product cards, best first.
    pub cards: Vec<Card>,
    /// Search engine that returned the results.
    pub engine: String,
    /// Release that contains the products.
    pub release: String,
    /// Spans of the search text that the search interpreted.
    pub understood: Vec<UnderstoodSpan>,
}

/// A span of the text that was interpreted.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = DiscoverUnderstood)]
pub struct UnderstoodSpan {
    /// The span as typed.
    pub text: String,
    /// Meaning of the span, as `GET /v1/search` names it.
    pub meaning: String,
    /// Filter that products must satisfy, as `GET /v1/search` states it. Null if the span excludes nothing.
    #[schema(required = true, value_type = Option<Object>)]
    pub filter: Option<Value>,
}

/// A product card, as the search returns it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Card {
    /// UUID of the product.
    pub id: String,
    /// Title as the store wrote it. The title is untrusted data.
    pub title: String,
    /// Display name of the brand.
    pub brand: String,
    /// Slug of the brand.
    pub brand_slug: String,
    /// Lowest variant price, in minor units.
    pub price_min_minor: i64,
    /// Currency of the prices, as an ISO 4217 code.
    pub currency: String,
    /// Discount from the list price, in percent.
    pub discount_pct: Option<u8>,
    /// Average rating.
    pub rating: Option<f32>,
    /// List price of the cheapest variant, in minor units, if it is marked down.
    pub compare_at_minor: Option<i64>,
    /// URL of the first image.
    pub image: Option<String>,
    /// `true` if any variant is available.
    pub in_stock: bool,
    /// Product identifier of the form `sha:` with 40 hex digits.
    pub product_uid: String,
    /// `true` if all variants are known.
    pub variants_complete: bool,
    /// `true` if the product does not match all words of the search text.
    #[serde(skip)]
    pub is_loose: bool,
}

/// Facts about a product in addition to its card.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Detail {
    /// Variants that are for sale.
    pub variants: Vec<Variant>,
    /// Prices of the variants.
    pub offers: Vec<Offer>,
    /// Attributes that the store states.
    pub attributes: Attributes,
}

/// A variant of a product.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variant {
    /// The platform's id of the variant.
    pub id: String,
    /// Option values by the option names that the store uses.
    pub options: BTreeMap<String, String>,
}

/// Stored price of a variant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offer {
    /// Id of the variant.
    pub variant_id: String,
    /// Price in minor units.
    pub amount_minor: i64,
    /// `true` if the variant can be bought.
    pub available: bool,
}

/// A store's statements about a product.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Vendor of the product.
    pub vendor: Option<String>,
    /// The store's own product type.
    pub product_type: Option<String>,
    /// Category of the product.
    pub category: Option<Category>,
    /// Option values by option name.
    pub options: BTreeMap<String, Vec<String>>,
    /// Further attribute values by name, such as `color`, `material` or `gender`.
    pub attributes: BTreeMap<String, Vec<String>>,
}

/// A category of the taxonomy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Category {
    /// Path from the top-level category down.
    pub path: String,
}

/// A brand in the list of brands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrandOfList {
    /// Slug of the brand.
    pub slug: BrandSlug,
    /// The name of the brand.
    pub name: String,
    /// Currency in which the brand sells.
    pub currency: Option<CurrencyCode>,
    /// `true` if the brand's name is a common word that often has other meanings.
    pub is_plain: bool,
}

/// Names of the brands in a release.
#[derive(Debug, Clone, Default)]
pub struct BrandList {
    release: String,
    brands: Vec<BrandOfList>,
    by_key: HashMap<String, usize>,
}

impl BrandList {
    /// Creates a list of a release's brands, those with the most products first. Of two brands with the same name, the
    /// first is used.
    #[must_use]
    pub fn new(release: String, brands: Vec<BrandOfList>) -> Self {
        let mut by_key = HashMap::new();
        for (at, brand) in brands.iter().enumerate() {
            for key in brand_keys(&brand.name) {
                by_key.entry(key).or_insert(at);
            }
        }
        Self {
            release,
            brands,
            by_key,
        }
    }

    /// Returns the release that contains the brands.
    #[must_use]
    pub fn release(&self) -> &str {
        &self.release
    }

    /// Returns the brand at an index.
    #[must_use]
    pub fn at(&self, at: usize) -> Option<&BrandOfList> {
        self.brands.get(at)
    }

    /// Returns the brand with this slug.
    #[must_use]
    pub fn of_slug(&self, slug: &str) -> Option<&BrandOfList> {
        self.brands.iter().find(|brand| brand.slug.as_str() == slug)
    }
}

impl BrandNames for BrandList {
    fn named(&self, key: &str) -> Option<NamedBrand> {
        let at = *self.by_key.get(key)?;
        let is_plain = self.brands.get(at)?.is_plain;
        Some(NamedBrand { at, is_plain })
    }
}
