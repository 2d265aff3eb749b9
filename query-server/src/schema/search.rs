use std::borrow::Cow;

use api::IgnoredParameter;
use data_model::ProductId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Facet, PriceBasis, ProductCard, UnderstoodPhrase};

/// Product cards, best first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SearchAnswer<'a> {
    /// The cards.
    pub data: Vec<ProductCard<'a>>,
    /// The way in which the search was answered.
    pub provenance: SearchProvenance<'a>,
    /// `graph`
    pub tier: Cow<'a, str>,
}

/// The way in which a search was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SearchProvenance<'a> {
    /// The release.
    pub release: Cow<'a, str>,
    /// The engine that searched the catalogue: `hybrid`, `semantic` or `lexical`. A search without a query is
    /// `lexical`.
    pub engine: Cow<'a, str>,
    /// The mode that was asked for.
    pub requested_mode: Cow<'a, str>,
    /// `none`; `all_but_one` or `any_term` when products that lack words of the query were added;
    /// `prefix` when products were found by a word that begins with the query's last one; `meaning` when no product has
    /// the words and what is answered is near in meaning.
    pub relaxed: Cow<'a, str>,
    /// True where there are products beyond those that are answered.
    pub more: bool,
    /// The phrases of the query that were read as more than words, in its order; empty where `understand=false` or the
    /// mode is another than `hybrid`.
    pub understood: Vec<UnderstoodPhrase<'a>>,
    /// Words of the query that no product holds, and what was looked for instead.
    pub corrections: Vec<Correction<'a>>,
    /// The reason why meaning was left out though it was asked for: `no_vectors`, `other_embedder`, `embedder_failed`
    /// or `no_known_word`; null when it was not.
    #[schema(required = true)]
    pub degraded: Option<Cow<'a, str>>,
    /// Words that were looked for beside the query's own, which count for more.
    pub synonyms: Vec<Synonym<'a>>,
    /// With `facet_counts=true`: how many of the products that the search is about have each value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub facets: Option<Vec<Facet<'a>>>,
    /// The currency whose prices filtered and ordered, where any did; with `facet_counts=true` the spread of the
    /// products' prices too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub price: Option<PriceBasis<'a>>,
    /// With `explain=true`: what the place of each card is made of, in the order of the cards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub explain: Option<Vec<Explained<'a>>>,
    /// Parameters of the request that nothing reads, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ignored: Option<Vec<IgnoredParameter>>,
}

/// The parts of a card's place. Cards whose tier by words is `title_and_code`, `title`, `code` or `brand` stand first,
/// in this order of tiers; the others in order of their scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Explained<'a> {
    /// UUID of the product.
    #[schema(value_type = String, format = "uuid")]
    pub id: ProductId,
    /// `words.share × words.fit + category + meaning.share × meaning.nearness`.
    pub score: f32,
    /// Its match by words; null where there is none.
    #[schema(required = true)]
    pub words: Option<ExplainedWords<'a>>,
    /// The bonus of a product whose category is the thing that the query names; less than 0 where the query only names
    /// a thing, and the product is something for it; else 0.
    pub category: f32,
    /// The nearness of its meaning; null when that was not asked.
    #[schema(required = true)]
    pub meaning: Option<ExplainedMeaning>,
}

/// A product's match by words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExplainedWords<'a> {
    /// `title_and_code`, `title`, `code`, `brand`, `all_terms`, `all_but_one` or `any_term`.
    pub tier: Cow<'a, str>,
    /// The score within the tier.
    pub score: f32,
    /// The score, its tier counted in, as a share of the best one, from 0 to 1.
    pub fit: f32,
    /// The share of words in the score.
    pub share: f32,
}

/// The nearness of a product's meaning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExplainedMeaning {
    /// The cosine of the angle between its vector and the query's, which in `hybrid` is moved toward the first hits.
    pub cosine: f32,
    /// The cosine as a share of the greatest one, or of .45 where that is less, from 0 to 1.
    pub nearness: f32,
    /// The share of meaning in the score.
    pub share: f32,
}

/// A word that was looked for beside another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Synonym<'a> {
    /// The query's word, or words.
    pub of: Cow<'a, str>,
    /// The word that was looked for too.
    pub to: Cow<'a, str>,
}

/// A word that was mended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Correction<'a> {
    /// As the query has it.
    pub from: Cow<'a, str>,
    /// The word that was looked for.
    pub to: Cow<'a, str>,
}
