use std::borrow::Cow;

use api::IgnoredParameter;
use data_model::ProductId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Facet, PriceBasis, ProductCard, UnderstoodPhrase};

/// Answer with product cards, best first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SearchAnswer<'a> {
    /// Product cards, best first.
    pub data: Vec<ProductCard<'a>>,
    /// Method by which the search was answered.
    pub provenance: SearchProvenance<'a>,
    /// Always `graph`.
    pub tier: Cow<'a, str>,
}

/// Method by which a search was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SearchProvenance<'a> {
    /// Id of the release.
    pub release: Cow<'a, str>,
    /// Engine that searched the catalogue: `hybrid`, `semantic` or `lexical`. A search without a query is `lexical`.
    pub engine: Cow<'a, str>,
    /// Search mode in the request.
    pub requested_mode: Cow<'a, str>,
    /// `none`: no relaxation. `all_but_one` or `any_term`: products that lack words of the query were added. `prefix`:
    /// the last word of the query was completed. `meaning`: no product has the words, and the results are similar in
    /// meaning.
    pub relaxed: Cow<'a, str>,
    /// True if more products match than are shown.
    pub more: bool,
    /// Phrases of the query that were interpreted as more than words, in query order. Empty with `understand=false` or
    /// in a mode other than `hybrid`.
    pub understood: Vec<UnderstoodPhrase<'a>>,
    /// Query words that no product contains, with the corrected words.
    pub corrections: Vec<Correction<'a>>,
    /// Reason for not searching by meaning although the mode includes meaning: `no_vectors`, `other_embedder`,
    /// `embedder_failed` or `no_known_word`; otherwise null.
    #[schema(required = true)]
    pub degraded: Option<Cow<'a, str>>,
    /// Synonyms that were searched in addition to the query's words. Synonyms have less weight than the query's own
    /// words.
    pub synonyms: Vec<Synonym<'a>>,
    /// With `facet_counts=true`: the number of matching products for each facet value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub facets: Option<Vec<Facet<'a>>>,
    /// Currency of the price filter and sort, if any; with `facet_counts=true` also the distribution of the products'
    /// prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub price: Option<PriceBasis<'a>>,
    /// With `explain=true`: the score components of each card, in card order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub explain: Option<Vec<Explained<'a>>>,
    /// Request parameters that the server ignored; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ignored: Option<Vec<IgnoredParameter>>,
}

/// Score components of a card. Cards with the word tier `title_and_code`, `title`, `code` or `brand` come first, in
/// this order. All other cards are ordered by score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Explained<'a> {
    /// UUID of the product.
    #[schema(value_type = String, format = "uuid")]
    pub id: ProductId,
    /// Score: `words.share × words.fit + category + meaning.share × meaning.nearness`.
    pub score: f32,
    /// Match by words; null if there is none.
    #[schema(required = true)]
    pub words: Option<ExplainedWords<'a>>,
    /// Bonus if the product is in the category that the query names. Negative if the query names a kind of product and
    /// this product is only an accessory. The value is 0 in all other cases.
    pub category: f32,
    /// Similarity in meaning; null if the search did not use meaning.
    #[schema(required = true)]
    pub meaning: Option<ExplainedMeaning>,
}

/// Match of a product by words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExplainedWords<'a> {
    /// Tier of the match: `title_and_code`, `title`, `code`, `brand`, `all_terms`, `all_but_one` or `any_term`.
    pub tier: Cow<'a, str>,
    /// Score within the tier.
    pub score: f32,
    /// Word score including the tier, as a share of the best word score, from 0 to 1.
    pub fit: f32,
    /// Weight of words in the total score.
    pub share: f32,
}

/// Similarity of a product in meaning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExplainedMeaning {
    /// Cosine of the angle between the vectors of product and query. In `hybrid`, the query vector is moved toward the
    /// first hits.
    pub cosine: f32,
    /// Cosine as a share of the greatest cosine, or of 0.45 if that is greater, from 0 to 1.
    pub nearness: f32,
    /// Weight of meaning in the total score.
    pub share: f32,
}

/// Synonym that was searched in addition to a query word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Synonym<'a> {
    /// Word or words of the query.
    pub of: Cow<'a, str>,
    /// Synonym that was also searched.
    pub to: Cow<'a, str>,
}

/// Query word whose spelling was corrected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Correction<'a> {
    /// Word in the query.
    pub from: Cow<'a, str>,
    /// Corrected word that was searched.
    pub to: Cow<'a, str>,
}
