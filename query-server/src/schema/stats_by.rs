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
        "What to tell figures by; without it, the totals are told.",
    )
}

/// Parameters of `GET /v1/stats`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StatsParameters {
    /// `brand`, `category` or `currency`: figures of each instead of totals.
    #[param(required = false, schema_with = groups)]
    pub by: Option<String>,
}

/// Figures of a group of products.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GroupStats<'a> {
    /// The brand's or the category's slug, or the currency; null for products that are filed under no category.
    #[schema(required = true)]
    pub value: Option<Cow<'a, str>>,
    /// The brand's name, the category's path, or the currency.
    #[schema(required = true)]
    pub label: Option<Cow<'a, str>>,
    /// Products.
    pub products: u64,
    /// Variants.
    pub variants: u64,
    /// Products with an available variant.
    pub in_stock: u64,
    /// Products that are marked down.
    pub on_sale: u64,
    /// Their lowest prices, by currency: those of different currencies are never compared.
    pub prices: Vec<PriceStats<'a>>,
}

/// Lowest prices of products in one currency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PriceStats<'a> {
    /// ISO 4217.
    pub currency: Cow<'a, str>,
    /// Products with a price.
    pub products: u64,
    /// The least.
    pub min_minor: i64,
    /// Half of them are not above it.
    pub median_minor: i64,
    /// The greatest.
    pub max_minor: i64,
}

/// Figures by group, those with most products first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StatsByAnswer<'a> {
    /// The groups, 1,000 at most.
    pub data: Vec<GroupStats<'a>>,
    /// Their source.
    pub provenance: StatsByProvenance<'a>,
    /// `graph`
    pub tier: Cow<'a, str>,
}

/// The source of figures by group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StatsByProvenance<'a> {
    /// The release.
    pub release: Cow<'a, str>,
    /// `brand`, `category` or `currency`.
    pub by: Cow<'a, str>,
    /// True where there are more groups.
    pub more: bool,
    /// Parameters of the request that nothing reads, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ignored: Option<Vec<IgnoredParameter>>,
}

/// The totals, or with `by` the figures of each group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum StatsOrGroups<'a> {
    /// Without `by`.
    Totals(StatsAnswer<'a>),
    /// With `by`.
    Groups(StatsByAnswer<'a>),
}
