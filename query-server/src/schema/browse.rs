use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{ProductCard, Provenance};

/// Parameters of `GET /v1/browse`: `category` or `brand`, or both.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct BrowseParameters {
    /// Only products in this category or below it, by slug or id.
    #[param(required = false, max_length = 200)]
    pub category: Option<String>,
    /// Only this brand's products, by its slug.
    #[param(required = false, max_length = 200)]
    pub brand: Option<String>,
    /// Lowest price, in minor units of `currency`.
    #[param(minimum = -9_007_199_254_740_991_i64, maximum = 9_007_199_254_740_991_i64, required = false)]
    pub price_min: Option<i64>,
    /// Highest price, in minor units of `currency`; not below `price_min`.
    #[param(minimum = -9_007_199_254_740_991_i64, maximum = 9_007_199_254_740_991_i64, required = false)]
    pub price_max: Option<i64>,
    /// `true` keeps only products with an available variant.
    #[param(required = false)]
    pub in_stock: Option<bool>,
    /// `true` keeps only products that are marked down.
    #[param(required = false)]
    pub on_sale: Option<bool>,
    /// A JSON object of facet names to a value, or to a list of values of which any will do. Names combine with AND.
    #[param(
        required = false,
        max_length = 4096,
        example = "{\"color\":[\"black\",\"navy\"],\"size\":\"M\"}"
    )]
    pub facets: Option<String>,
    /// `relevance`, `price_asc`, `price_desc`, `rating` or `newest`.
    #[param(
        default = "relevance",
        required = false,
        pattern = "^(relevance|price_asc|price_desc|rating|newest)$"
    )]
    pub sort: Option<String>,
    /// Most products wanted.
    #[param(default = 24, minimum = 1, maximum = 60, required = false)]
    pub limit: Option<i64>,
    /// `data.next_cursor` of the page before.
    #[param(required = false, max_length = 200)]
    pub cursor: Option<String>,
    /// ISO 4217: the currency of price filters, price sorts and `data.price`; by default the market's.
    #[param(required = false, pattern = "^[A-Z]{3}$")]
    pub currency: Option<String>,
}

/// Parameters of `GET /v1/brands/{slug}/products`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct BrandProductsParameters {
    /// Only products in this category or below it, by slug or id.
    #[param(required = false, max_length = 200)]
    pub category: Option<String>,
    /// Lowest price, in minor units of `currency`.
    #[param(minimum = -9_007_199_254_740_991_i64, maximum = 9_007_199_254_740_991_i64, required = false)]
    pub price_min: Option<i64>,
    /// Highest price, in minor units of `currency`; not below `price_min`.
    #[param(minimum = -9_007_199_254_740_991_i64, maximum = 9_007_199_254_740_991_i64, required = false)]
    pub price_max: Option<i64>,
    /// `true` keeps only products with an available variant.
    #[param(required = false)]
    pub in_stock: Option<bool>,
    /// `true` keeps only products that are marked down.
    #[param(required = false)]
    pub on_sale: Option<bool>,
    /// A JSON object of facet names to a value, or to a list of values of which any will do. Names combine with AND.
    #[param(required = false, max_length = 4096)]
    pub facets: Option<String>,
    /// `relevance`, `price_asc`, `price_desc`, `rating` or `newest`.
    #[param(
        default = "relevance",
        required = false,
        pattern = "^(relevance|price_asc|price_desc|rating|newest)$"
    )]
    pub sort: Option<String>,
    /// Most products wanted.
    #[param(default = 24, minimum = 1, maximum = 60, required = false)]
    pub limit: Option<i64>,
    /// `data.next_cursor` of the page before.
    #[param(required = false, max_length = 200)]
    pub cursor: Option<String>,
    /// ISO 4217: the currency of price filters, price sorts and `data.price`; by default the market's.
    #[param(required = false, pattern = "^[A-Z]{3}$")]
    pub currency: Option<String>,
}

/// A facet and how many products have each of its values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Facet {
    /// What to name in `facets`: `color`, `size`, `category`, `vendor`, `tag`, …
    pub name: String,
    /// Those that most products have first, then by value; at most 50, and those that are filtered by.
    pub values: Vec<FacetValue>,
}

/// A facet value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FacetValue {
    /// What to filter by: lower case, white space folded; a category's slug.
    pub value: String,
    /// As a store spells it; a category's name.
    pub label: String,
    /// How many products have it among those that pass every other filter.
    pub count: u32,
}

/// The lowest prices of the products that pass every filter but the price range, those in one currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PriceSummary {
    /// The lowest; null when there is none.
    #[schema(required = true)]
    pub min_minor: Option<i64>,
    /// The highest; null when there is none.
    #[schema(required = true)]
    pub max_minor: Option<i64>,
    /// ISO 4217.
    pub currency: String,
    /// How the prices lie, ascending without gaps, at most twelve bins; the last holds the few that are far above the
    /// others. Empty when no product is in the currency.
    pub histogram: Vec<PriceBin>,
}

/// How many prices lie between two limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PriceBin {
    /// The lowest price of the bin.
    pub from_minor: i64,
    /// The lowest price above the bin.
    pub to_minor: i64,
    /// Products.
    pub count: u32,
}

/// One page of a faceted list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BrowsePage {
    /// The products.
    pub items: Vec<ProductCard>,
    /// Counts of the whole list.
    pub facets: Vec<Facet>,
    /// Prices of the whole list.
    pub price: PriceSummary,
    /// What to send as `cursor` for the next page; null on the last.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

/// A faceted list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BrowseAnswer {
    /// One page with counts of the whole list.
    pub data: BrowsePage,
    /// Where it comes from.
    pub provenance: Provenance,
    /// `graph`
    pub tier: String,
}
