use std::borrow::Cow;

use data_model::{ProductId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Pages, PricePoint, ProductCard};

/// Parameters of `GET /v1/changes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ChangesParameters {
    /// Only changes observed then or later, RFC 3339.
    #[param(format = DateTime, max_length = 64)]
    pub since: String,
    /// Only products of the brand of this slug.
    #[param(required = false, max_length = 200)]
    pub brand: Option<String>,
    /// Most products wanted, those that went included.
    #[param(default = 100, minimum = 1, maximum = 500, required = false)]
    pub limit: Option<i64>,
    /// `provenance.page.next_cursor` of the page before.
    #[param(required = false, max_length = 200)]
    pub cursor: Option<String>,
}

/// A product that came or changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChangedProduct<'a> {
    /// `came`: it was first seen since then; `changed`: it was known before.
    pub event: Cow<'a, str>,
    /// The newest of its changes, RFC 3339.
    #[schema(value_type = String, format = DateTime)]
    pub changed_at: Timestamp,
    /// The product as it is in this release.
    pub product: ProductCard<'a>,
    /// Changes of its variants since then, newest first, 50 at most; its price history has all.
    pub changes: Vec<PricePoint<'a>>,
}

/// A product that left the market.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GoneProduct<'a> {
    /// UUID of the product.
    #[schema(value_type = String, format = "uuid")]
    pub id: ProductId,
    /// Its last title.
    pub title: Cow<'a, str>,
    /// The slug of its brand.
    pub brand_slug: Cow<'a, str>,
    /// `delisted`: a crawl of its store found it no more; `brand_removed`: its brand left the market.
    pub kind: Cow<'a, str>,
    /// When that was found, RFC 3339.
    #[schema(value_type = String, format = DateTime)]
    pub changed_at: Timestamp,
}

/// A page of products that came, changed or went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChangesAnswer<'a> {
    /// Products that came or changed, in an order that holds within a release.
    pub data: Vec<ChangedProduct<'a>>,
    /// Products that went, the newest first; they come behind all others.
    pub gone: Vec<GoneProduct<'a>>,
    /// `true` where more products changed than the 1,000 that the pages of a list show: ask by brand, or of a later moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub capped: Option<bool>,
    /// The release and the page.
    pub provenance: Pages<'a>,
    /// `graph`
    pub tier: Cow<'a, str>,
}
