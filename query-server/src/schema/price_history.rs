use std::borrow::Cow;

use data_model::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::Pages;

/// Parameters of `GET /v1/products/{ident}/price-history`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PriceHistoryParameters {
    /// Most entries wanted.
    #[param(default = 200, minimum = 1, maximum = 1000, required = false)]
    pub limit: Option<i64>,
    /// `provenance.page.next_cursor` of the page before.
    #[param(required = false, max_length = 200)]
    pub cursor: Option<String>,
}

/// One observed change of a variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PricePoint<'a> {
    /// End of the crawl that observed it, or when the store answered live, RFC 3339.
    #[schema(value_type = String, format = DateTime)]
    pub observed_at: Timestamp,
    /// The variant; one that is gone is not among the product's variants.
    pub variant_id: Cow<'a, str>,
    /// `first_seen`, `changed`, `gone`, or `returned` after it was gone.
    pub event: Cow<'a, str>,
    /// ISO 4217.
    pub currency: Cow<'a, str>,
    /// Price from then on, in minor units; null when gone.
    #[schema(required = true)]
    pub price_minor: Option<i64>,
    /// List price from then on, where above the price.
    #[schema(required = true)]
    pub compare_at_minor: Option<i64>,
    /// True where the store would sell it from then on; null when gone.
    #[schema(required = true)]
    pub available: Option<bool>,
    /// The observer: `crawl`, or `live` for a store's answer when it was asked about the product; null where the
    /// release was built before that was kept.
    #[schema(required = true)]
    pub source: Option<Cow<'a, str>>,
}

/// A page of a product's price history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PriceHistoryAnswer<'a> {
    /// Observed changes, newest first.
    pub data: Vec<PricePoint<'a>>,
    /// The release and the page.
    pub provenance: Pages<'a>,
    /// `graph`
    pub tier: Cow<'a, str>,
}
