use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A stretch of the query that was read, and what it leaves of the products.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UnderstoodPhrase<'a> {
    /// As it was typed: a query without it is one in which this is not read.
    pub text: Cow<'a, str>,
    /// `price`; `excluded` (titles, attributes, vendors and brands must not say it); `required` (titles say that they lack it); `phrase`
    /// (words between quotation marks); `gift`, `occasion`, `need` (kinds of thing that answer it); `recipient`, `age`
    /// (left out, for a thing is named); `on_sale`, `in_stock` (the state that it must be in); `size` (where no product has its
    /// words: what is stated as a size, or nothing where none of what is found states it); `order` (what fits best stands in `order`);
    /// `ignored` (words that only ask).
    pub meaning: Cow<'a, str>,
    /// The filter that products must pass; null where nothing is left out for it.
    #[schema(required = true)]
    pub filter: Option<UnderstoodFilter<'a>>,
    /// The order, where `meaning` is `order`: `price_asc`, `price_desc`, `newest`, `rating`, `size_desc`, `size_asc`
    /// (by what titles of such things are measured in), `weight_desc`, `weight_asc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub order: Option<Cow<'a, str>>,
}

/// A filter that was read from the query.
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
    /// ISO 4217: what the prices are in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub currency: Option<Cow<'a, str>>,
    /// True where products must be marked down.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub on_sale: Option<bool>,
    /// True where products must be in stock.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub in_stock: Option<bool>,
    /// Words that neither title nor attributes may have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<Cow<'a, str>>,
    /// Phrases of which the title must have one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<Cow<'a, str>>,
    /// Sizes, of which a variant must state one, in whichever way its store writes it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<Cow<'a, str>>,
    /// Slugs of the categories, of which one must be the product's or above it; the most usual first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<Cow<'a, str>>,
}
