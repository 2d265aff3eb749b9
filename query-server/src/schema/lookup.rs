use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{ProductCard, Provenance};

/// Parameters of `GET /v1/lookup`: at least one of `url`, `sku` and `handle`. Each parameter may be repeated, at most
/// 20 values in total.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LookupParameters {
    /// URL of a product's page at its store.
    #[param(required = false)]
    pub url: Vec<String>,
    /// The SKU of a variant, exactly as the store writes it.
    #[param(required = false)]
    pub sku: Vec<String>,
    /// Handle of the product in the brand's URLs. Requires `brand`.
    #[param(required = false)]
    pub handle: Vec<String>,
    /// Slug of the brand whose handles are looked up. The slug also restricts SKUs to that brand.
    #[param(required = false, max_length = 200)]
    pub brand: Option<String>,
}

/// Products that match one name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Lookup<'a> {
    /// Kind of name: `url`, `sku` or `handle`.
    pub by: Cow<'a, str>,
    /// Name as given in the request.
    pub value: Cow<'a, str>,
    /// Products with exactly this name, at most 20; empty if there are none.
    pub products: Vec<ProductCard<'a>>,
    /// True if more products have this name.
    pub more: bool,
}

/// Answer with the products for each external name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LookupAnswer<'a> {
    /// One entry for each name, in request order.
    pub data: Vec<Lookup<'a>>,
    /// Release from which the response was built.
    pub provenance: Provenance<'a>,
    /// Always `graph`.
    pub tier: Cow<'a, str>,
}
