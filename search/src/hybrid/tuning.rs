//! Parameters that decide about hits and their order, tuned on judged queries.

/// Number of lexical and of semantic candidates for a page of up to twenty products. A longer page needs more, because
/// a product far down has more rivals. On judged queries with 40 shown, 100 candidates cost .0002 of NDCG@10 compared
/// to 200, and up to .006 of recall. With 50 shown, 400 candidates gain .0003 of recall over 250.
pub(crate) const CANDIDATES: usize = 100;
pub(crate) const CANDIDATES_PAGE: usize = 20;
pub(crate) const CANDIDATES_PER_FURTHER: usize = 10;
/// Maximum page size of the API, which limits the products after a page of usual size.
pub(crate) const LONG_PAGE: usize = 40;
/// Maximum number of candidates for any page size.
pub(crate) const CANDIDATES_MAX: usize = 400;

/// Maximum number of product texts that a query with refusals reads, best hits first.
pub(crate) const TEXTS_READ_MAX: usize = CANDIDATES;

/// Weight of meaning in a score. The weight of words is 1 minus this weight. Results change little from .2 to .35. A
/// weight of .4 for queries of which no product contains every word gains .002 of NDCG@10 on one judged set. On another
/// judged set, the weight .4 costs .0014 of NDCG@10 and .003 of recall.
pub(crate) const MEANING: f32 = 0.3;
/// Weight of meaning for a question or long sentence without a product with every word. For queries at stores without
/// rules, .5 gains .005 of P@5 over .3, and .6 gains .002.
pub(crate) const MEANING_OF_SENTENCE: f32 = 0.5;
/// Minimum cosine of full similarity. Similarity is scaled by the nearest product, or by this value if that product is
/// farther. The nearest product to a nearly meaningless text is not similar.
pub(crate) const COSINE_WHOLE_MIN: f32 = 0.45;

/// Bonus for a product in a category that the query names. It ranks a television before television stands.
pub(crate) const CATEGORY: f32 = 0.02;

/// Score factor of an accessory of the named product. It ranks laptop sleeves after the laptops, even those found only
/// by meaning.
pub(crate) const DEMOTION: f32 = 0.25;

/// Minimum share of the best score of products that a superlative sorts. Titles with the words reach it, and
/// descriptions do not.
pub(crate) const SUPERLATIVE_SHARE_MIN: f32 = 0.8;

/// Value of one tier relative to the best lexical score. A product with every word ranks before one that lacks words,
/// unless meaning and prominence outweigh this.
pub(crate) const TIER_STEP: f32 = 0.6;

/// Number of first hits that indicate the meaning, and their weight relative to the query when the hits are reranked.
/// For judged queries with few words, this gains .006 of NDCG@10 and .008 of recall.
pub(crate) const FEEDBACK_ROWS: usize = 15;
pub(crate) const FEEDBACK: f32 = 1.0;

/// Minimum cosine of a product found only by meaning. It is higher if words find no product, because the query may be
/// meaningless. Random letters reach 0.49 to some title. For one in twenty judged queries, the nearest product reaches
/// no more than 0.52.
pub(crate) const COSINE_MIN: f32 = 0.35;
pub(crate) const COSINE_ALONE_MIN: f32 = 0.5;
