use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{ProductCard, Provenance};

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
