use std::borrow::Cow;

use api::IgnoredParameter;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::ProductCard;

/// Facet with the number of products for each value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Facet<'a> {
    /// Facet name for the parameter `facets`: `category`, `brand`, `color`, `size`, `vendor`, `tag`, …
    pub name: Cow<'a, str>,
    /// Values with the most products first, then in value order. At most `facet_values_max`, plus the values in the
    /// filter.
    pub values: Vec<FacetValue<'a>>,
    /// Total number of values that start with `facet_query`. If more exist than are shown, `facet_query` and
    /// `facet_values_max` give access to the remaining values.
    pub values_total: u32,
}

/// Value of a facet, with its number of products.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FacetValue<'a> {
    /// Value for the filter: lowercase with normalized white space, or the slug of a category or brand.
    pub value: Cow<'a, str>,
    /// Display text: the store's spelling, or the name of a category or brand.
    pub label: Cow<'a, str>,
    /// Number of products with this value that pass every other filter.
    pub count: u32,
    /// `true` if a search counted more than 1,000; `count` is then 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub value_capped: Option<bool>,
}

/// Lowest prices of the products in one currency that pass every filter except the price range. A price of 0 counts as
/// no price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PriceSummary<'a> {
    /// Lowest price; null if no product has a price.
    #[schema(required = true)]
    pub min_minor: Option<i64>,
    /// Highest price; null if no product has a price.
    #[schema(required = true)]
    pub max_minor: Option<i64>,
    /// Currency code (ISO 4217).
    pub currency: Cow<'a, str>,
    /// Price histogram in ascending order without gaps, at most twelve bins. The last bin contains the few prices that
    /// are far above most prices. The histogram is empty if no product is priced in the currency.
    pub histogram: Vec<PriceBin>,
}

/// Currency of the price filter and price sort of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PriceBasis<'a> {
    /// Currency code (ISO 4217).
    pub currency: Cow<'a, str>,
    /// True if a price filter excluded products because their prices are in other currencies.
    pub left_out: bool,
    /// Lowest price; null if no product has a price. Only with `facet_counts=true`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "told")]
    #[schema(value_type = Option<i64>)]
    pub min_minor: Option<Option<i64>>,
    /// Highest price; null if no product has a price. Only with `facet_counts=true`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "told")]
    #[schema(value_type = Option<i64>)]
    pub max_minor: Option<Option<i64>>,
    /// Price histogram as in `GET /v1/browse`. Only with `facet_counts=true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub histogram: Option<Vec<PriceBin>>,
}

/// Deserializes a field that may be null or absent.
fn told<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Option<i64>>, D::Error> {
    Option::deserialize(value).map(Some)
}

/// Provenance of a list with facets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BrowseProvenance<'a> {
    /// Id of the release.
    pub release: Cow<'a, str>,
    /// Currency of the price filter and price sort of the list.
    pub price: PriceBasis<'a>,
    /// Request parameters that the server ignored; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ignored: Option<Vec<IgnoredParameter>>,
}

/// Histogram bin: the number of prices in a range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PriceBin {
    /// Lowest price of the bin, in minor units.
    pub from_minor: i64,
    /// Upper end of the bin in minor units, not part of the bin.
    pub to_minor: i64,
    /// Number of products.
    pub count: u32,
    /// `true` if a search counted more than 1,000; `count` is then 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub value_capped: Option<bool>,
}

/// One page of a list with facets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BrowsePage<'a> {
    /// Products of the page.
    pub items: Vec<ProductCard<'a>>,
    /// Facet counts of the whole list.
    pub facets: Vec<Facet<'a>>,
    /// Price summary of the whole list.
    pub price: PriceSummary<'a>,
    /// Value of `cursor` for the next page; null on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<Cow<'a, str>>,
    /// `true` if the list has more than the 1,000 products that its pages show. Add filters to see the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub capped: Option<bool>,
}

/// Answer with one page of a list with facets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BrowseAnswer<'a> {
    /// One page of the list, with counts of the whole list.
    pub data: BrowsePage<'a>,
    /// Provenance of the list.
    pub provenance: BrowseProvenance<'a>,
    /// Always `graph`.
    pub tier: Cow<'a, str>,
}
