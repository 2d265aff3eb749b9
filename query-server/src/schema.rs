//! Types of answers, for the operations, the OpenAPI description and Rust clients.
//!
//! An operation fills one of these types with texts borrowed from the release. The answer becomes JSON just before it
//! is sent, with the fields in this order. Later versions may add fields, so the types accept unknown fields.

mod brand;
mod browse;
mod changes;
mod discounts;
mod lookup;
mod named;
mod offers;
mod parameters;
mod price_history;
mod product;
mod recommend;
mod search;
mod shipping;
mod stats_by;
mod suggest;
mod understood;

pub use brand::{
    Brand, BrandAnswer, BrandCategory, BrandDetail, BrandsAnswer, CheckOutcome, ShippingSummary, ShippingTierSummary,
};
pub use browse::{BrowseAnswer, BrowsePage, BrowseProvenance, Facet, FacetValue, PriceBasis, PriceBin, PriceSummary};
pub use changes::{ChangedProduct, ChangesAnswer, ChangesParameters, GoneProduct};
pub use discounts::{Discount, DiscountBasis, DiscountCondition};
pub use lookup::{Lookup, LookupAnswer, LookupParameters};
pub use named::NamedValue;
pub use offers::{BrandOffer, MatchReason, OffersAnswer, OffersParameters, OffersProvenance};
pub use parameters::{
    BrandParameter, BrandsParameters, FilterParameters, IncludeParameters, ListParameters, ProductPath,
    ReviewsParameters, SearchParameters,
};
pub use price_history::{PriceHistoryAnswer, PriceHistoryParameters, PricePoint};
pub use product::{
    Attributes, CategoryRef, Medium, Offer, ProductAnswer, ProductCard, ProductDetail, Review, ReviewsAnswer, Swatch,
    Variant,
};
pub use recommend::{RecommendAnswer, RecommendParameters, RecommendProvenance};
pub use search::{Correction, Explained, ExplainedMeaning, ExplainedWords, SearchAnswer, SearchProvenance, Synonym};
pub use shipping::{
    BrandShipping, CardDelivery, CashOnDelivery, Delivery, DeliveryRateSummary, FreeShipping, Shipping, ShippingAnswer,
    ShippingEvidence, ShippingParameters, ShippingSource, ShippingSources, ShippingUnknown,
};
pub use stats_by::{GroupStats, PriceStats, StatsByAnswer, StatsByProvenance, StatsOrGroups, StatsParameters};
pub use suggest::{SuggestAnswer, SuggestParameters, SuggestedName, Suggestions};
pub use understood::{UnderstoodFilter, UnderstoodPhrase};

use std::borrow::Cow;

use api::IgnoredParameter;
use data_model::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Release from which an answer comes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Provenance<'a> {
    /// Id of the release.
    pub release: Cow<'a, str>,
    /// Request parameters that the server ignored; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ignored: Option<Vec<IgnoredParameter>>,
}

/// Sources of a product's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProductProvenance<'a> {
    /// Id of the release.
    pub release: Cow<'a, str>,
    /// Time at which a crawl first saw the brand's catalogue in its current form (RFC 3339). Crawls that find it
    /// unchanged do not change this time.
    #[schema(value_type = String, format = DateTime)]
    pub refreshed_at: Timestamp,
    /// Request parameters that the server ignored; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ignored: Option<Vec<IgnoredParameter>>,
}

/// Provenance of one page of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Pages<'a> {
    /// Id of the release.
    pub release: Cow<'a, str>,
    /// Continuation of the list.
    pub page: Page<'a>,
    /// Request parameters that the server ignored; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ignored: Option<Vec<IgnoredParameter>>,
}

/// Continuation of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Page<'a> {
    /// Value of `cursor` for the next page; null on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<Cow<'a, str>>,
}

/// Category with its subcategories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Category<'a> {
    /// Id of the category in the Google product taxonomy.
    pub id: u32,
    /// Slug of the category.
    pub slug: Cow<'a, str>,
    /// Name of the category, without its ancestors.
    pub name: Cow<'a, str>,
    /// Full path of the category, including its ancestors.
    pub path: Cow<'a, str>,
    /// Number of products in the category or its subcategories.
    pub product_count: u64,
    /// Picture of one of the category's products; null if no product in stock has a picture.
    #[schema(required = true, format = "uri")]
    pub image: Option<Cow<'a, str>>,
    /// Direct subcategories.
    #[schema(no_recursion)]
    pub children: Vec<Category<'a>>,
}

/// Category tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CategoriesAnswer<'a> {
    /// Top-level categories.
    pub data: Vec<Category<'a>>,
    /// Release from which the response was built.
    pub provenance: Provenance<'a>,
    /// Always `graph`.
    pub tier: Cow<'a, str>,
}

/// Totals of the catalogue in a release.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Stats<'a> {
    /// Number of brands.
    pub brands: u64,
    /// Number of products.
    pub products: u64,
    /// Number of variants.
    pub variants: u64,
    /// Number of products with an available variant.
    pub in_stock: u64,
    /// Number of products that are marked down.
    pub on_sale: u64,
    /// Number of reviews.
    pub reviews: u64,
    /// Number of categories with directly filed products. In `GET /v1/categories` these have a `product_count` above
    /// the sum of their children's. Categories without products of their own are listed there but not counted here.
    pub categories: u64,
    /// Products by currency.
    pub currencies: Vec<CurrencyStats<'a>>,
    /// Number of pincodes for which a store has answered if and how it delivers.
    pub pincodes_covered: u64,
    /// Number of brands with known shipping facts, by fact.
    pub shipping_known: ShippingStats,
    /// Release from which the totals come.
    pub release: ReleaseStats<'a>,
    /// Age of the brands' catalogues.
    pub refreshed_at: RefreshStats,
    /// Times of the last checks of the brands' stores, even if nothing had changed.
    pub checked_at: CheckStats,
    /// Number of brands by outcome of the last check of their store.
    pub check_outcomes: OutcomeStats,
}

/// Number of products in one currency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CurrencyStats<'a> {
    /// Currency code (ISO 4217).
    pub currency: Cow<'a, str>,
    /// Number of products.
    pub products: u64,
}

/// Number of brands with known shipping facts, by fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShippingStats {
    /// Number of brands that state a minimum order value for free shipping.
    pub threshold: u64,
    /// Number of brands that state if they accept cash on delivery.
    pub cod: u64,
    /// Number of brands that state the delivery time.
    pub days: u64,
    /// Number of brands whose store answered for pincodes.
    pub matrix: u64,
}

/// Release from which the totals come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReleaseStats<'a> {
    /// Id of the release.
    pub id: Cow<'a, str>,
    /// Time at which the release became current (RFC 3339).
    #[schema(value_type = String, format = DateTime)]
    pub published_at: Timestamp,
}

/// Times at which crawls first saw the brands' catalogues in their current form. Crawls that find a catalogue unchanged
/// do not count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RefreshStats {
    /// Time of the brand with the oldest catalogue (RFC 3339).
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub oldest: Option<Timestamp>,
    /// Time of the brand with the newest catalogue (RFC 3339).
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub newest: Option<Timestamp>,
}

/// Times of the last checks of stores; null if unknown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CheckStats {
    /// Time of the least recent check (RFC 3339).
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub oldest: Option<Timestamp>,
    /// Time of the most recent check (RFC 3339).
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub newest: Option<Timestamp>,
}

/// Number of brands by outcome of the last check of their store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OutcomeStats {
    /// Number of brands whose catalogue had changed.
    pub changed: u64,
    /// Number of brands whose catalogue had not changed.
    pub unchanged: u64,
    /// Number of brands whose new catalogue looked doubtful. The previous catalogue is shown.
    pub held_back: u64,
    /// Number of brands whose store could not be read. The previous catalogue is shown.
    pub failed: u64,
    /// Number of brands without a known check.
    pub never_checked: u64,
}

/// Answer with the totals of the catalogue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StatsAnswer<'a> {
    /// Totals of the catalogue.
    pub data: Stats<'a>,
    /// Release from which the response was built.
    pub provenance: Provenance<'a>,
    /// Always `graph`.
    pub tier: Cow<'a, str>,
}

/// Answer of a running process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HealthDocument {
    /// Always `ok`.
    pub status: String,
}

/// Answer of a server with an open release.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReadyDocument {
    /// Always `ready`.
    pub status: String,
    /// Id of the release being served.
    pub release: String,
    /// True if a newer release may exist, because the last check of the release store failed.
    pub stale: bool,
}
