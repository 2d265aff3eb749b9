use std::borrow::Cow;

use data_model::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Pages, Provenance};

/// Brand in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Brand<'a> {
    /// Slug of the brand in URL paths; it never changes.
    pub slug: Cow<'a, str>,
    /// Display name of the brand.
    pub name: Cow<'a, str>,
    /// Public domain of the brand's store.
    pub domain: Cow<'a, str>,
    /// URL of the brand's logo.
    #[schema(required = true, format = "uri")]
    pub logo: Option<Cow<'a, str>>,
    /// Currency code (ISO 4217).
    pub currency: Cow<'a, str>,
    /// Country code (ISO 3166-1 alpha-2).
    #[schema(required = true)]
    pub country: Option<Cow<'a, str>>,
    /// Number of products.
    pub product_count: u64,
    /// Number of products with an available variant.
    pub in_stock_count: u64,
    /// Number of products that are marked down.
    pub on_sale_count: u64,
    /// Categories with the most products, at most 20 in a list.
    pub categories: Vec<BrandCategory<'a>>,
    /// Lowest price in the brand's own currency.
    #[schema(required = true)]
    pub price_min_minor: Option<i64>,
    /// Highest price in the brand's own currency.
    #[schema(required = true)]
    pub price_max_minor: Option<i64>,
    /// Mean of the products' ratings, weighted by their number of ratings.
    #[schema(required = true)]
    pub rating: Option<f32>,
    /// Total number of ratings of all products.
    pub rating_count: u64,
    /// Time at which a crawl first saw the catalogue in its current form (RFC 3339). Crawls that find it unchanged do
    /// not change this time.
    #[schema(value_type = String, format = DateTime)]
    pub refreshed_at: Timestamp,
    /// Time of the last check of the store (RFC 3339), even if nothing had changed; null if unknown.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub checked_at: Option<Timestamp>,
    /// Outcome of the last check; null if unknown.
    #[schema(required = true)]
    pub check_outcome: Option<CheckOutcome>,
    /// False if the store may have more products than could be listed, so that the others are missing here; null if
    /// unknown.
    #[schema(required = true)]
    pub catalogue_complete: Option<bool>,
}

/// Outcome of a check of a brand's store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// The catalogue had changed.
    Changed,
    /// The catalogue had not changed.
    Unchanged,
    /// The new catalogue looked doubtful. The previous catalogue is shown until another crawl or the operator confirms
    /// the new one.
    HeldBack,
    /// The store could not be read. The previous catalogue is shown.
    Failed,
}

/// Category in which a brand has products.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BrandCategory<'a> {
    /// Id of the category in the Google product taxonomy.
    pub id: u32,
    /// Slug of the category.
    pub slug: Cow<'a, str>,
    /// Name of the category.
    pub name: Cow<'a, str>,
    /// Number of the brand's products in the category or its subcategories.
    pub product_count: u64,
}

/// Brand with all its facts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BrandDetail<'a> {
    /// Slug of the brand in URL paths; it never changes.
    pub slug: Cow<'a, str>,
    /// Display name of the brand.
    pub name: Cow<'a, str>,
    /// Public domain of the brand's store.
    pub domain: Cow<'a, str>,
    /// URL of the brand's logo.
    #[schema(required = true, format = "uri")]
    pub logo: Option<Cow<'a, str>>,
    /// Currency code (ISO 4217).
    pub currency: Cow<'a, str>,
    /// Country code (ISO 3166-1 alpha-2).
    #[schema(required = true)]
    pub country: Option<Cow<'a, str>>,
    /// Number of products.
    pub product_count: u64,
    /// Number of products with an available variant.
    pub in_stock_count: u64,
    /// Number of products that are marked down.
    pub on_sale_count: u64,
    /// All categories of the brand, those with most products first.
    pub categories: Vec<BrandCategory<'a>>,
    /// Lowest price in the brand's own currency.
    #[schema(required = true)]
    pub price_min_minor: Option<i64>,
    /// Highest price in the brand's own currency.
    #[schema(required = true)]
    pub price_max_minor: Option<i64>,
    /// Mean of the products' ratings, weighted by their number of ratings.
    #[schema(required = true)]
    pub rating: Option<f32>,
    /// Total number of ratings of all products.
    pub rating_count: u64,
    /// Time at which a crawl first saw the catalogue in its current form (RFC 3339). Crawls that find it unchanged do
    /// not change this time.
    #[schema(value_type = String, format = DateTime)]
    pub refreshed_at: Timestamp,
    /// Time of the last check of the store (RFC 3339), even if nothing had changed; null if unknown.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub checked_at: Option<Timestamp>,
    /// Outcome of the last check; null if unknown.
    #[schema(required = true)]
    pub check_outcome: Option<CheckOutcome>,
    /// False if the store may have more products than could be listed, so that the others are missing here; null if
    /// unknown.
    #[schema(required = true)]
    pub catalogue_complete: Option<bool>,
    /// URL of the brand's store.
    #[schema(format = "uri")]
    pub url: Cow<'a, str>,
    /// The brand's own description.
    #[schema(required = true)]
    pub description: Option<Cow<'a, str>>,
    /// Shipping terms; null if unknown.
    #[schema(required = true)]
    pub shipping: Option<ShippingSummary<'a>>,
}

/// Shipping terms that a store states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShippingSummary<'a> {
    /// Currency code (ISO 4217).
    pub currency: Cow<'a, str>,
    /// Minimum order value for free shipping, in minor units.
    #[schema(required = true)]
    pub free_shipping_threshold_minor: Option<i64>,
    /// True if cash on delivery is available.
    #[schema(required = true)]
    pub cod_available: Option<bool>,
    /// Shipping rates of the store.
    pub tiers: Vec<ShippingTierSummary<'a>>,
}

/// Shipping rate of a store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShippingTierSummary<'a> {
    /// Name of the rate.
    pub name: Cow<'a, str>,
    /// Delivery price, in minor units.
    pub amount_minor: i64,
    /// Minimum order value of the rate, in minor units.
    #[schema(required = true)]
    pub min_order_minor: Option<i64>,
    /// Maximum order value of the rate, in minor units.
    #[schema(required = true)]
    pub max_order_minor: Option<i64>,
    /// Minimum number of days until delivery, as the store counts them.
    #[schema(required = true)]
    pub days_min: Option<u16>,
    /// Maximum number of days until delivery, as the store counts them.
    #[schema(required = true)]
    pub days_max: Option<u16>,
}

/// Answer with one page of brands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BrandsAnswer<'a> {
    /// Brands of the page, those with most products first.
    pub data: Vec<Brand<'a>>,
    /// Release of the answer, and the cursor of the next page.
    pub provenance: Pages<'a>,
    /// Always `graph`.
    pub tier: Cow<'a, str>,
}

/// Answer with one brand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BrandAnswer<'a> {
    /// Requested brand.
    pub data: BrandDetail<'a>,
    /// Release from which the response was built.
    pub provenance: Provenance<'a>,
    /// Always `graph`.
    pub tier: Cow<'a, str>,
}
