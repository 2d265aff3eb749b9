//! Discovery's view of the catalogue.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use data_model::{BrandSlug, Classify, CurrencyCode, ErrorCode};
use data_understanding::intent::{BrandNames, NamedBrand, brand_keys};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Searches products and answers facts about them.
#[async_trait]
pub trait Catalogue: fmt::Debug + Send + Sync {
    /// The names of the brands that the catalogue has now.
    ///
    /// # Errors
    /// [`CatalogueError`]
    fn brands(&self) -> Result<Arc<BrandList>, CatalogueError>;

    /// The currency of amounts where nobody names one.
    fn market_currency(&self) -> CurrencyCode;

    /// The best products, at most 40.
    ///
    /// # Errors
    /// [`CatalogueError`]
    async fn search(&self, search: SearchFor) -> Result<CatalogueHits, CatalogueError>;

    /// Variants, offers and attributes of a product; `None` where it is gone.
    ///
    /// # Errors
    /// [`CatalogueError`]
    async fn detail(&self, id: &str) -> Result<Option<Detail>, CatalogueError>;
}

/// The catalogue's failure, as the caller gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the catalogue does not answer: {}", .0.as_str())]
pub struct CatalogueError(pub ErrorCode);

impl Classify for CatalogueError {
    fn code(&self) -> ErrorCode {
        self.0
    }
}

/// A search, with what products must pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchFor {
    /// The words to search for, as a person writes them; at most 512 characters.
    pub text: String,
    /// The least that a product may cost, in minor units.
    pub price_min_minor: Option<i64>,
    /// The most.
    pub price_max_minor: Option<i64>,
    /// The currency of amounts.
    pub currency: Option<CurrencyCode>,
    /// The brand of the products.
    pub brand: Option<BrandSlug>,
    /// Facets, each with values of which products have one.
    pub facets: Vec<(String, Vec<String>)>,
    /// True where sold-out products are found, too.
    pub with_sold_out: bool,
    /// The order of what is found.
    pub order: SearchOrder,
    /// True where the text is words alone.
    pub as_typed: bool,
}

/// The order of what a search finds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SearchOrder {
    /// Best fit first.
    #[default]
    Relevance,
    /// The lowest price first.
    Cheapest,
    /// The highest price first.
    Dearest,
}

/// The hits of a search.
#[derive(Debug, Clone, Default)]
pub struct CatalogueHits {
    /// The best first.
    pub cards: Vec<Card>,
    /// The search engine that found them.
    pub engine: String,
    /// The release that they are of.
    pub release: String,
    /// The stretches of the text that the search read.
    pub understood: Vec<UnderstoodSpan>,
}

/// A stretch of a text that was read.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = DiscoverUnderstood)]
pub struct UnderstoodSpan {
    /// As it was typed.
    pub text: String,
    /// As `GET /v1/search` names it.
    pub meaning: String,
    /// The filter that products must pass, as `GET /v1/search` states it; null where nothing is left out for it.
    #[schema(required = true, value_type = Option<Object>)]
    pub filter: Option<Value>,
}

/// A product card, as the search answers it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Card {
    /// UUID.
    pub id: String,
    /// As the store wrote it: data, whatever it says.
    pub title: String,
    /// The brand's display name.
    pub brand: String,
    /// The brand's slug.
    pub brand_slug: String,
    /// The lowest price of a variant, in minor units.
    pub price_min_minor: i64,
    /// ISO 4217 code.
    pub currency: String,
    /// Share of the list price that is taken off.
    pub discount_pct: Option<u8>,
    /// Average of ratings.
    pub rating: Option<f32>,
    /// List price of what costs least, where it is marked down.
    pub compare_at_minor: Option<i64>,
    /// Address of the first picture.
    pub image: Option<String>,
    /// Any variant is available.
    pub in_stock: bool,
    /// `sha:` and 40 hex digits.
    pub product_uid: String,
    /// All variants are known.
    pub variants_complete: bool,
    /// It lacks words of the text that found it.
    #[serde(skip)]
    pub is_loose: bool,
}

/// Facts of a product besides its card.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Detail {
    /// Variants that are for sale.
    pub variants: Vec<Variant>,
    /// The prices of the variant.
    pub offers: Vec<Offer>,
    /// Attributes that the store states.
    pub attributes: Attributes,
}

/// A variant of a product.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variant {
    /// The platform's id.
    pub id: String,
    /// By the names that the store gave them.
    pub options: BTreeMap<String, String>,
}

/// The price of a variant, as it is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offer {
    /// The variant.
    pub variant_id: String,
    /// In minor units.
    pub amount_minor: i64,
    /// True where it can be bought.
    pub available: bool,
}

/// A store's statements about a product.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The vendor.
    pub vendor: Option<String>,
    /// The store's own kind of thing.
    pub product_type: Option<String>,
    /// The category of the product.
    pub category: Option<Category>,
    /// Values of options, by name.
    pub options: BTreeMap<String, Vec<String>>,
    /// Other values, by name: `color`, `material`, `gender`, …
    pub attributes: BTreeMap<String, Vec<String>>,
}

/// A category of the taxonomy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Category {
    /// From the top down.
    pub path: String,
}

/// A brand as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrandOfList {
    /// Its slug.
    pub slug: BrandSlug,
    /// The name of the brand.
    pub name: String,
    /// The currency that it sells in.
    pub currency: Option<CurrencyCode>,
    /// True where its name is a common word that says other things as often.
    pub is_plain: bool,
}

/// The names of brands.
#[derive(Debug, Clone, Default)]
pub struct BrandList {
    release: String,
    brands: Vec<BrandOfList>,
    by_key: HashMap<String, usize>,
}

impl BrandList {
    /// The brands of a release, those with most products first: of two of one name the first is meant.
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

    /// The release that has them.
    #[must_use]
    pub fn release(&self) -> &str {
        &self.release
    }

    /// The brand at a place.
    #[must_use]
    pub fn at(&self, at: usize) -> Option<&BrandOfList> {
        self.brands.get(at)
    }

    /// The brand of this slug.
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
