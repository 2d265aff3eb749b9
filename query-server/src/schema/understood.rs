use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Phrase of the query that was interpreted, and its effect on the results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UnderstoodPhrase<'a> {
    /// Phrase as typed. To avoid this interpretation, remove it from the query.
    pub text: Cow<'a, str>,
    /// Meaning of the phrase. `price`: a price filter. `excluded`: titles, attributes, vendors and brands must not
    /// contain it. `required`: titles must say that the product lacks it. `phrase`: words in quotation marks. `gift`,
    /// `occasion`, `need`: kinds of things that suit it. `recipient`, `age`: ignored, because the query names a thing.
    /// `on_sale`, `in_stock`: required state of the product. `size`: if no product has these words, the products must
    /// state this size, unless no result states it. `order`: the best matches are sorted by `order`. `ignored`: words
    /// that only express the request.
    pub meaning: Cow<'a, str>,
    /// Filter that products must pass; null if the phrase excludes no products.
    #[schema(required = true)]
    pub filter: Option<UnderstoodFilter<'a>>,
    /// Sort order if `meaning` is `order`: `price_asc`, `price_desc`, `newest`, `rating`, `size_desc`, `size_asc` (by
    /// the measure that titles of such things state), `weight_desc`, `weight_asc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub order: Option<Cow<'a, str>>,
}

/// Filter that was read from the query.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UnderstoodFilter<'a> {
    /// Lowest price, in minor units of `currency`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub price_min: Option<i64>,
    /// Highest price, in minor units of `currency`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub price_max: Option<i64>,
    /// Currency of the prices (ISO 4217).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub currency: Option<Cow<'a, str>>,
    /// True if products must be marked down.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub on_sale: Option<bool>,
    /// True if products must be in stock.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub in_stock: Option<bool>,
    /// Words that neither title nor attributes may contain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<Cow<'a, str>>,
    /// Phrases, at least one of which the title must contain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<Cow<'a, str>>,
    /// Sizes, at least one of which a variant must state, in any spelling.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<Cow<'a, str>>,
    /// Category slugs, most usual first. Products must be in at least one of these categories or their subcategories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<Cow<'a, str>>,
}
