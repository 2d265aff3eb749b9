use std::borrow::Cow;

use api::IgnoredParameter;
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::Schema;
use utoipa::{IntoParams, ToSchema};

use super::StatsAnswer;
use super::parameters::one_of;

fn groups() -> Schema {
    one_of(
        &["brand", "category", "currency"],
        "The grouping of the statistics. Without it, the answer contains the totals.",
    )
}

/// Parameters of `GET /v1/stats`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StatsParameters {
    /// `brand`, `category` or `currency`: returns statistics of each group instead of totals.
    #[param(required = false, schema_with = groups)]
    pub by: Option<String>,
}

/// Statistics of a group of products.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GroupStats<'a> {
    /// Slug of the brand or category, or the currency; null for products without a category.
    #[schema(required = true)]
    pub value: Option<Cow<'a, str>>,
    /// Name of the brand, path of the category, or the currency.
    #[schema(required = true)]
    pub label: Option<Cow<'a, str>>,
    /// Number of products.
    pub products: u64,
    /// Number of variants.
    pub variants: u64,
    /// Number of products with an available variant.
    pub in_stock: u64,
    /// Number of products that are marked down.
    pub on_sale: u64,
    /// Statistics of the products' lowest prices, by currency. Prices in different currencies are never compared.
    pub prices: Vec<PriceStats<'a>>,
}

/// Statistics of the lowest prices of products in one currency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PriceStats<'a> {
    /// Currency code (ISO 4217).
    pub currency: Cow<'a, str>,
    /// Number of products with a price.
    pub products: u64,
    /// Lowest price, in minor units.
    pub min_minor: i64,
    /// Median price, in minor units.
    pub median_minor: i64,
    /// Highest price, in minor units.
    pub max_minor: i64,
}

/// Statistics by group, those with most products first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StatsByAnswer<'a> {
    /// Groups, at most 1,000.
    pub data: Vec<GroupStats<'a>>,
    /// Provenance of the statistics.
    pub provenance: StatsByProvenance<'a>,
    /// Always `graph`.
    pub tier: Cow<'a, str>,
}

/// Provenance of statistics by group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StatsByProvenance<'a> {
    /// Id of the release.
    pub release: Cow<'a, str>,
    /// Property of the groups: `brand`, `category` or `currency`.
    pub by: Cow<'a, str>,
    /// True if there are more groups than shown.
    pub more: bool,
    /// Request parameters that the server ignored; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ignored: Option<Vec<IgnoredParameter>>,
}

/// Totals, or with `by` the statistics of each group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum StatsOrGroups<'a> {
    /// Totals, if `by` is absent.
    Totals(StatsAnswer<'a>),
    /// Statistics of each group, if `by` is given.
    Groups(StatsByAnswer<'a>),
}
