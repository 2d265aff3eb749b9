//! Every number that decides what hybrid search finds and in which order. Chosen on judged queries.

/// Hits by words that are taken into account.
pub(crate) const LEXICAL_CANDIDATES: usize = 100;
/// Hits by meaning that are taken into account.
pub(crate) const SEMANTIC_CANDIDATES: usize = 100;
/// Hits of either kind that are taken into account when only some of each brand are wanted.
pub(crate) const DIVERSE_CANDIDATES: usize = 400;

/// The share of meaning in a score when some product holds every word of the query, and when none does.
pub(crate) const MEANING_ALL_WORDS: f32 = 0.3;
pub(crate) const MEANING: f32 = 0.5;

/// What one tier counts among scores by words: a product that holds every word stands before one that lacks some.
pub(crate) const TIER_STEP: f32 = 8.0;

/// A product that only its meaning speaks for must be this near to the query; nearer still when no product was found
/// by words, for then the query may mean nothing at all.
pub(crate) const COSINE_MIN: f32 = 0.35;
pub(crate) const COSINE_ALONE_MIN: f32 = 0.45;
/// And it must be this near as a share of how near the nearest is.
pub(crate) const SHARE_OF_BEST_MIN: f32 = 0.6;
