use std::borrow::Cow;

use api::IgnoredParameter;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::ProductCard;

/// A facet and how many products have each of its values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Facet<'a> {
    /// The name to use in `facets`: `category`, `brand`, `color`, `size`, `vendor`, `tag`, …
    pub name: Cow<'a, str>,
    /// Those that most products have first, then by value; at most `facet_values_max`, and those that are filtered by.
    pub values: Vec<FacetValue<'a>>,
    /// The number of values that any product has, of those that begin with `facet_query`: where there are more than are
    /// shown, that parameter and `facet_values_max` reach the rest.
    pub values_total: u32,
}

/// A facet value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FacetValue<'a> {
    /// The value to filter by: lower case, white space folded; a category's or a brand's slug.
    pub value: Cow<'a, str>,
    /// As a store spells it; a category's or a brand's name.
    pub label: Cow<'a, str>,
    /// The number of products that have it among those that pass every other filter.
    pub count: u32,
    /// `true` where a search counted more than the 1,000 that `count` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub value_capped: Option<bool>,
}

/// The lowest prices of the products that pass every filter but the price range, those in one currency; 0 is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PriceSummary<'a> {
    /// The lowest; null when there is none.
    #[schema(required = true)]
    pub min_minor: Option<i64>,
    /// The highest; null when there is none.
    #[schema(required = true)]
    pub max_minor: Option<i64>,
    /// ISO 4217.
    pub currency: Cow<'a, str>,
    /// The spread of the prices, ascending without gaps, at most twelve bins; the last holds the few that are far above
    /// the others. Empty when no product is in the currency.
    pub histogram: Vec<PriceBin>,
}

/// The currency whose prices filter and order a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PriceBasis<'a> {
    /// ISO 4217.
    pub currency: Cow<'a, str>,
    /// True where a price filter left out products because their prices are in other currencies.
    pub left_out: bool,
    /// The lowest; null when there is none. This and what follows with `facet_counts=true` alone.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "told")]
    #[schema(value_type = Option<i64>)]
    pub min_minor: Option<Option<i64>>,
    /// The highest; null when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "told")]
    #[schema(value_type = Option<i64>)]
    pub max_minor: Option<Option<i64>>,
    /// The spread of the prices, as `GET /v1/browse` tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub histogram: Option<Vec<PriceBin>>,
}

/// A member that may be null, and absent.
fn told<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Option<i64>>, D::Error> {
    Option::deserialize(value).map(Some)
}

/// The sources of a faceted list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BrowseProvenance<'a> {
    /// The release.
    pub release: Cow<'a, str>,
    /// The currency whose prices filter and order the list.
    pub price: PriceBasis<'a>,
    /// Parameters of the request that nothing reads, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ignored: Option<Vec<IgnoredParameter>>,
}

/// The number of prices between two limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PriceBin {
    /// The lowest price of the bin.
    pub from_minor: i64,
    /// The lowest price above the bin.
    pub to_minor: i64,
    /// Products.
    pub count: u32,
    /// `true` where a search counted more than the 1,000 that `count` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub value_capped: Option<bool>,
}

/// One page of a faceted list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BrowsePage<'a> {
    /// The products.
    pub items: Vec<ProductCard<'a>>,
    /// Counts of the whole list.
    pub facets: Vec<Facet<'a>>,
    /// Prices of the whole list.
    pub price: PriceSummary<'a>,
    /// The text to send as `cursor` for the next page; null on the last.
    #[schema(required = true)]
    pub next_cursor: Option<Cow<'a, str>>,
    /// `true` where the list has more products than the 1,000 that its pages show: narrow it to see them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub capped: Option<bool>,
}

/// A faceted list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BrowseAnswer<'a> {
    /// One page with counts of the whole list.
    pub data: BrowsePage<'a>,
    /// The sources of the list.
    pub provenance: BrowseProvenance<'a>,
    /// `graph`
    pub tier: Cow<'a, str>,
}
