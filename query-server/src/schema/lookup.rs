use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{ProductCard, Provenance};

/// Parameters of `GET /v1/lookup`: at least one of `url`, `sku` and `handle`, each as often as is wanted, 20 in all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LookupParameters {
    /// The address of a product's page at its store.
    #[param(required = false)]
    pub url: Vec<String>,
    /// The SKU of a variant, exactly as the store writes it.
    #[param(required = false)]
    pub sku: Vec<String>,
    /// The product's name in the brand's addresses; with `brand`.
    #[param(required = false)]
    pub handle: Vec<String>,
    /// The slug of the brand whose handles these are; SKUs are then looked for at that brand alone.
    #[param(required = false, max_length = 200)]
    pub brand: Option<String>,
}

/// The products that one name stands for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Lookup<'a> {
    /// `url`, `sku` or `handle`.
    pub by: Cow<'a, str>,
    /// As it was asked.
    pub value: Cow<'a, str>,
    /// The products that have exactly that; empty where none has, at most 20.
    pub products: Vec<ProductCard<'a>>,
    /// True where other products have it too.
    pub more: bool,
}

/// Products by what others call them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LookupAnswer<'a> {
    /// One entry for each name, in the order asked.
    pub data: Vec<Lookup<'a>>,
    /// The release that they come from.
    pub provenance: Provenance<'a>,
    /// `graph`
    pub tier: Cow<'a, str>,
}
