//! The types of answers, for operations, for the interface description and for clients in Rust.
//!
//! An operation makes one of these of what it found, its texts borrowed from the release; it is written as JSON at the rim.
//! The order of its members is the order in which they are written. Later versions may add members, so no answer's type
//! refuses one that it does not know.

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

/// The release that an answer comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Provenance<'a> {
    /// The release.
    pub release: Cow<'a, str>,
    /// Parameters of the request that nothing reads, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ignored: Option<Vec<IgnoredParameter>>,
}

/// The sources of a product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProductProvenance<'a> {
    /// The release.
    pub release: Cow<'a, str>,
    /// When a crawl found the brand's catalogue as it is now, RFC 3339; a crawl that finds it unchanged does not move it.
    #[schema(value_type = String, format = DateTime)]
    pub refreshed_at: Timestamp,
    /// Parameters of the request that nothing reads, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ignored: Option<Vec<IgnoredParameter>>,
}

/// The sources of a page of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Pages<'a> {
    /// The release.
    pub release: Cow<'a, str>,
    /// The continuation of the list.
    pub page: Page<'a>,
    /// Parameters of the request that nothing reads, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ignored: Option<Vec<IgnoredParameter>>,
}

/// The continuation of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Page<'a> {
    /// The text to send as `cursor` for the next page; null on the last.
    #[schema(required = true)]
    pub next_cursor: Option<Cow<'a, str>>,
}

/// A category with what is below it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Category<'a> {
    /// Its id in the Google product taxonomy.
    pub id: u32,
    /// Its slug.
    pub slug: Cow<'a, str>,
    /// Its own name.
    pub name: Cow<'a, str>,
    /// Its full path.
    pub path: Cow<'a, str>,
    /// Products filed under it or below it.
    pub product_count: u64,
    /// A picture of one of its products; null where none in stock has one.
    #[schema(required = true, format = "uri")]
    pub image: Option<Cow<'a, str>>,
    /// The categories below it.
    #[schema(no_recursion)]
    pub children: Vec<Category<'a>>,
}

/// The category tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CategoriesAnswer<'a> {
    /// The top categories.
    pub data: Vec<Category<'a>>,
    /// The release that they come from.
    pub provenance: Provenance<'a>,
    /// `graph`
    pub tier: Cow<'a, str>,
}

/// Totals of the catalogue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Stats<'a> {
    /// Brands.
    pub brands: u64,
    /// Products.
    pub products: u64,
    /// Variants.
    pub variants: u64,
    /// Products with an available variant.
    pub in_stock: u64,
    /// Products that are marked down.
    pub on_sale: u64,
    /// Reviews.
    pub reviews: u64,
    /// Categories that products are filed under directly: those whose `product_count` in `GET /v1/categories` is more
    /// than the sum of their children's. A category that only leads to others is listed there but not counted here.
    pub categories: u64,
    /// Products by currency.
    pub currencies: Vec<CurrencyStats<'a>>,
    /// Pincodes for which a store has answered whether and how it delivers.
    pub pincodes_covered: u64,
    /// The numbers of brands whose shipping facts are known, by fact.
    pub shipping_known: ShippingStats,
    /// The release.
    pub release: ReleaseStats<'a>,
    /// The freshness of the brands' catalogues.
    pub refreshed_at: RefreshStats,
    /// When the brands' stores were last asked, whether or not anything had changed.
    pub checked_at: CheckStats,
    /// The numbers of brands by the outcome of their stores' last checks.
    pub check_outcomes: OutcomeStats,
}

/// Products in one currency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CurrencyStats<'a> {
    /// ISO 4217.
    pub currency: Cow<'a, str>,
    /// Products.
    pub products: u64,
}

/// The numbers of brands whose shipping facts are known, by fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShippingStats {
    /// Brands that tell from which order value on shipping is free.
    pub threshold: u64,
    /// Brands that tell whether they take cash on delivery.
    pub cod: u64,
    /// Brands that tell how long delivery takes.
    pub days: u64,
    /// Brands that answered for pincodes.
    pub matrix: u64,
}

/// The release that the totals are of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReleaseStats<'a> {
    /// Its id.
    pub id: Cow<'a, str>,
    /// When it became current, RFC 3339.
    #[schema(value_type = String, format = DateTime)]
    pub published_at: Timestamp,
}

/// When crawls found brands' catalogues as they are now; crawls that find them unchanged do not count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RefreshStats {
    /// The stalest brand's, RFC 3339.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub oldest: Option<Timestamp>,
    /// The freshest brand's, RFC 3339.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub newest: Option<Timestamp>,
}

/// When stores were last asked; null where that is not known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CheckStats {
    /// Of the brand whose store was asked longest ago, RFC 3339.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub oldest: Option<Timestamp>,
    /// Of the brand whose store was asked latest, RFC 3339.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub newest: Option<Timestamp>,
}

/// Brands by what came of asking their stores last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OutcomeStats {
    /// The catalogue had changed.
    pub changed: u64,
    /// The catalogue was as it is known.
    pub unchanged: u64,
    /// The catalogue looked doubtful; the one from before is shown.
    pub held_back: u64,
    /// The store could not be read; the catalogue from before is shown.
    pub failed: u64,
    /// No check is known.
    pub never_checked: u64,
}

/// The totals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StatsAnswer<'a> {
    /// The totals.
    pub data: Stats<'a>,
    /// The release that they come from.
    pub provenance: Provenance<'a>,
    /// `graph`
    pub tier: Cow<'a, str>,
}

/// The process answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HealthDocument {
    /// `ok`
    pub status: String,
}

/// A release is open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReadyDocument {
    /// `ready`
    pub status: String,
    /// The release that is served.
    pub release: String,
    /// True where a newer one may be current: the last look at the store of releases failed.
    pub stale: bool,
}
