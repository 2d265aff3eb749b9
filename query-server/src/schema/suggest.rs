use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{ProductCard, Provenance};

/// Parameters of `GET /v1/suggest`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SuggestParameters {
    /// The text typed so far, at most 512 characters. Without any text, popular suggestions are answered.
    #[param(max_length = 512)]
    pub q: String,
    /// Most suggestions of each kind.
    #[param(default = 8, minimum = 1, maximum = 20, required = false)]
    pub limit: Option<i64>,
}

/// Suggestions, the best of each kind first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Suggestions<'a> {
    /// Other queries to search for.
    pub queries: Vec<Cow<'a, str>>,
    /// Products whose titles hold what was typed.
    pub products: Vec<ProductCard<'a>>,
    /// Brands whose names do.
    pub brands: Vec<SuggestedName<'a>>,
    /// Categories whose names do.
    pub categories: Vec<SuggestedName<'a>>,
}

/// A brand or a category that is suggested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SuggestedName<'a> {
    /// Its slug.
    pub slug: Cow<'a, str>,
    /// Its name.
    pub name: Cow<'a, str>,
}

/// Suggestions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SuggestAnswer<'a> {
    /// The suggestions.
    pub data: Suggestions<'a>,
    /// The release that they come from.
    pub provenance: Provenance<'a>,
    /// `graph`
    pub tier: Cow<'a, str>,
}
