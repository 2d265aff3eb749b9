use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{ProductCard, Provenance};

/// Parameters of `GET /v1/suggest`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SuggestParameters {
    /// Text typed so far, at most 512 characters. If empty, popular suggestions are returned.
    #[param(max_length = 512)]
    pub q: String,
    /// Maximum number of suggestions of each kind.
    #[param(default = 8, minimum = 1, maximum = 20, required = false)]
    pub limit: Option<i64>,
}

/// Suggestions, the best of each kind first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Suggestions<'a> {
    /// Suggested search queries.
    pub queries: Vec<Cow<'a, str>>,
    /// Products whose titles contain the typed text.
    pub products: Vec<ProductCard<'a>>,
    /// Brands whose names match the typed text.
    pub brands: Vec<SuggestedName<'a>>,
    /// Categories whose names match the typed text.
    pub categories: Vec<SuggestedName<'a>>,
}

/// Suggested brand or category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SuggestedName<'a> {
    /// Slug of the brand or category.
    pub slug: Cow<'a, str>,
    /// Name of the brand or category.
    pub name: Cow<'a, str>,
}

/// Answer with suggestions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SuggestAnswer<'a> {
    /// Suggestions of each kind.
    pub data: Suggestions<'a>,
    /// Release from which the response was built.
    pub provenance: Provenance<'a>,
    /// Always `graph`.
    pub tier: Cow<'a, str>,
}
