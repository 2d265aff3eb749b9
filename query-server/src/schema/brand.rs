use std::borrow::Cow;

use data_model::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Pages, Provenance};

/// A brand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Brand<'a> {
    /// Its name in paths; it never changes.
    pub slug: Cow<'a, str>,
    /// Display name.
    pub name: Cow<'a, str>,
    /// The domain that shoppers see.
    pub domain: Cow<'a, str>,
    /// Address of its logo.
    #[schema(required = true, format = "uri")]
    pub logo: Option<Cow<'a, str>>,
    /// ISO 4217.
    pub currency: Cow<'a, str>,
    /// ISO 3166-1 alpha-2.
    #[schema(required = true)]
    pub country: Option<Cow<'a, str>>,
    /// Products.
    pub product_count: u64,
    /// Products with an available variant.
    pub in_stock_count: u64,
    /// Products that are marked down.
    pub on_sale_count: u64,
    /// Categories with most products first; at most 20 in a list.
    pub categories: Vec<BrandCategory<'a>>,
    /// Lowest price in the brand's own currency.
    #[schema(required = true)]
    pub price_min_minor: Option<i64>,
    /// Highest price in the brand's own currency.
    #[schema(required = true)]
    pub price_max_minor: Option<i64>,
    /// Mean of the products' ratings, weighted by how many each has.
    #[schema(required = true)]
    pub rating: Option<f32>,
    /// Ratings of all products.
    pub rating_count: u64,
    /// When a crawl found the catalogue as it is now, RFC 3339; a crawl that finds it unchanged does not move it.
    #[schema(value_type = String, format = DateTime)]
    pub refreshed_at: Timestamp,
    /// When its store was last asked, RFC 3339, whether or not anything had changed; null if that is not known.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub checked_at: Option<Timestamp>,
    /// The outcome of that check; null if it is not known.
    #[schema(required = true)]
    pub check_outcome: Option<CheckOutcome>,
}

/// The outcome of asking a brand's store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// Its catalogue had changed.
    Changed,
    /// Its catalogue was as it is known.
    Unchanged,
    /// Its catalogue looked doubtful: the one from before is shown until another crawl or the operator confirms it.
    HeldBack,
    /// Its store could not be read: the catalogue from before is shown.
    Failed,
}

/// A category that a brand has products in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BrandCategory<'a> {
    /// Its id in the taxonomy.
    pub id: u32,
    /// Its slug.
    pub slug: Cow<'a, str>,
    /// Its name.
    pub name: Cow<'a, str>,
    /// Products of the brand filed under it or below it.
    pub product_count: u64,
}

/// A brand with what only its own answer tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BrandDetail<'a> {
    /// Its name in paths; it never changes.
    pub slug: Cow<'a, str>,
    /// Display name.
    pub name: Cow<'a, str>,
    /// The domain that shoppers see.
    pub domain: Cow<'a, str>,
    /// Address of its logo.
    #[schema(required = true, format = "uri")]
    pub logo: Option<Cow<'a, str>>,
    /// ISO 4217.
    pub currency: Cow<'a, str>,
    /// ISO 3166-1 alpha-2.
    #[schema(required = true)]
    pub country: Option<Cow<'a, str>>,
    /// Products.
    pub product_count: u64,
    /// Products with an available variant.
    pub in_stock_count: u64,
    /// Products that are marked down.
    pub on_sale_count: u64,
    /// All categories, those with most products first.
    pub categories: Vec<BrandCategory<'a>>,
    /// Lowest price in the brand's own currency.
    #[schema(required = true)]
    pub price_min_minor: Option<i64>,
    /// Highest price in the brand's own currency.
    #[schema(required = true)]
    pub price_max_minor: Option<i64>,
    /// Mean of the products' ratings, weighted by how many each has.
    #[schema(required = true)]
    pub rating: Option<f32>,
    /// Ratings of all products.
    pub rating_count: u64,
    /// When a crawl found the catalogue as it is now, RFC 3339; a crawl that finds it unchanged does not move it.
    #[schema(value_type = String, format = DateTime)]
    pub refreshed_at: Timestamp,
    /// When its store was last asked, RFC 3339, whether or not anything had changed; null if that is not known.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub checked_at: Option<Timestamp>,
    /// The outcome of that check; null if it is not known.
    #[schema(required = true)]
    pub check_outcome: Option<CheckOutcome>,
    /// Address of its store.
    #[schema(format = "uri")]
    pub url: Cow<'a, str>,
    /// The brand's own description.
    #[schema(required = true)]
    pub description: Option<Cow<'a, str>>,
    /// Shipping terms; null while they are not known.
    #[schema(required = true)]
    pub shipping: Option<ShippingSummary<'a>>,
}

/// Shipping terms, as far as a store tells them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShippingSummary<'a> {
    /// ISO 4217.
    pub currency: Cow<'a, str>,
    /// Order value from which shipping is free.
    #[schema(required = true)]
    pub free_shipping_threshold_minor: Option<i64>,
    /// Cash on delivery.
    #[schema(required = true)]
    pub cod_available: Option<bool>,
    /// Rates.
    pub tiers: Vec<ShippingTierSummary<'a>>,
}

/// One shipping rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShippingTierSummary<'a> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// The price of the delivery.
    pub amount_minor: i64,
    /// Order value from which it applies.
    #[schema(required = true)]
    pub min_order_minor: Option<i64>,
    /// Order value up to which it applies.
    #[schema(required = true)]
    pub max_order_minor: Option<i64>,
    /// Fewest days to delivery.
    #[schema(required = true)]
    pub days_min: Option<u16>,
    /// Most days to delivery.
    #[schema(required = true)]
    pub days_max: Option<u16>,
}

/// A page of brands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BrandsAnswer<'a> {
    /// The brands, those with most products first.
    pub data: Vec<Brand<'a>>,
    /// The release and the page.
    pub provenance: Pages<'a>,
    /// `graph`
    pub tier: Cow<'a, str>,
}

/// One brand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BrandAnswer<'a> {
    /// The brand.
    pub data: BrandDetail<'a>,
    /// The release that it comes from.
    pub provenance: Provenance<'a>,
    /// `graph`
    pub tier: Cow<'a, str>,
}
