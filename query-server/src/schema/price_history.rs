use std::borrow::Cow;

use data_model::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::Pages;

/// Parameters of `GET /v1/products/{ident}/price-history`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PriceHistoryParameters {
    /// Maximum number of entries.
    #[param(default = 200, minimum = 1, maximum = 1000, required = false)]
    pub limit: Option<i64>,
    /// `provenance.page.next_cursor` of the previous page.
    #[param(required = false, max_length = 200)]
    pub cursor: Option<String>,
}

/// One observed change of a variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PricePoint<'a> {
    /// End of the crawl that observed the change, or time of the store's live answer (RFC 3339).
    #[schema(value_type = String, format = DateTime)]
    pub observed_at: Timestamp,
    /// Id of the variant. A removed variant is no longer among the product's variants.
    pub variant_id: Cow<'a, str>,
    /// Kind of change: `first_seen`, `changed`, `gone`, or `returned` after it was gone.
    pub event: Cow<'a, str>,
    /// Currency code (ISO 4217).
    pub currency: Cow<'a, str>,
    /// Price from this time on, in minor units; null if the variant is gone.
    #[schema(required = true)]
    pub price_minor: Option<i64>,
    /// List price from this time on, if it is above the price.
    #[schema(required = true)]
    pub compare_at_minor: Option<i64>,
    /// True if the store sells the variant from this time on; null if it is gone.
    #[schema(required = true)]
    pub available: Option<bool>,
    /// Observer: `crawl`, or `live` for the store's answer to a live request. Null in releases that did not yet store
    /// the observer.
    #[schema(required = true)]
    pub source: Option<Cow<'a, str>>,
}

/// Answer with one page of a product's price history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PriceHistoryAnswer<'a> {
    /// Observed changes, newest first.
    pub data: Vec<PricePoint<'a>>,
    /// Release of the answer, and the cursor of the next page.
    pub provenance: Pages<'a>,
    /// Always `graph`.
    pub tier: Cow<'a, str>,
}
