use std::borrow::Cow;

use data_model::{ProductId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Pages, PricePoint, ProductCard};

/// Parameters of `GET /v1/changes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ChangesParameters {
    /// Only changes observed at this time or later (RFC 3339).
    #[param(format = DateTime, max_length = 64)]
    pub since: String,
    /// Only products of the brand with this slug.
    #[param(required = false, max_length = 200)]
    pub brand: Option<String>,
    /// Maximum number of products, including removed ones.
    #[param(default = 100, minimum = 1, maximum = 500, required = false)]
    pub limit: Option<i64>,
    /// `provenance.page.next_cursor` of the previous page.
    #[param(required = false, max_length = 200)]
    pub cursor: Option<String>,
}

/// Product that was added or changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChangedProduct<'a> {
    /// `came`: first seen since `since`; `changed`: already known before.
    pub event: Cow<'a, str>,
    /// Time of the product's newest change (RFC 3339).
    #[schema(value_type = String, format = DateTime)]
    pub changed_at: Timestamp,
    /// Product in its current form in this release.
    pub product: ProductCard<'a>,
    /// Changes of the product's variants since `since`, newest first, at most 50. The price history has all prices.
    pub changes: Vec<PricePoint<'a>>,
}

/// Product that was removed from the market.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GoneProduct<'a> {
    /// UUID of the product.
    #[schema(value_type = String, format = "uuid")]
    pub id: ProductId,
    /// Last known title of the product.
    pub title: Cow<'a, str>,
    /// Slug of the product's brand.
    pub brand_slug: Cow<'a, str>,
    /// `delisted`: a crawl of the store no longer found the product; `brand_removed`: the brand left the market.
    pub kind: Cow<'a, str>,
    /// Time at which the removal was found (RFC 3339).
    #[schema(value_type = String, format = DateTime)]
    pub changed_at: Timestamp,
}

/// Page of products that were added, changed or removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChangesAnswer<'a> {
    /// Products that were added or changed, in an order that is stable within a release.
    pub data: Vec<ChangedProduct<'a>>,
    /// Removed products, newest first. Removed products follow after all other products of the list.
    pub gone: Vec<GoneProduct<'a>>,
    /// `true` if more than the 1,000 products that a list can contain changed. Use `brand` or a later `since`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub capped: Option<bool>,
    /// Release of the answer, and the cursor of the next page.
    pub provenance: Pages<'a>,
    /// Always `graph`.
    pub tier: Cow<'a, str>,
}
