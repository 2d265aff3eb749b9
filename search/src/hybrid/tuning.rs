//! Every number that decides what hybrid search finds and in which order. Chosen on judged queries.

/// Hits by words, and as many by meaning, that are taken into account for a page of twenty or fewer, and how many more
/// for each further product that may be shown: what stands far down has more rivals. On judged queries, 40 shown, 100
/// cost .0002 of NDCG@10 beside 200, and up to .006 of recall; 50 shown, 400 are worth .0003 of recall beside 250.
pub(crate) const CANDIDATES: usize = 100;
pub(crate) const CANDIDATES_PAGE: usize = 20;
pub(crate) const CANDIDATES_PER_FURTHER: usize = 10;
/// What follows a usual page is what a page of so many would show: as many as the contract allows.
pub(crate) const LONG_PAGE: usize = 40;
/// So many and no more, however much is shown.
pub(crate) const CANDIDATES_MAX: usize = 400;

/// The share of meaning in a score; the rest is that of words. From .2 to .35 little changes.
/// Where no product holds every word, .4 is worth .002 of NDCG@10 on one judged set and costs .0014, and .003 of recall, on
/// the other.
pub(crate) const MEANING: f32 = 0.3;
/// Nearness is a share of the nearest's, or of this where that is farther: what is nearest to a text that means next to
/// nothing is not near.
pub(crate) const COSINE_WHOLE_MIN: f32 = 0.45;

/// What it is worth to be filed under a category that is called what the query says the thing is: a television before what
/// televisions stand on.
pub(crate) const CATEGORY: f32 = 0.02;

/// What the score of a product counts for that is something for the thing that a query names, and nothing else does: a
/// laptop's sleeve comes after the laptops, even after those that only their meaning speaks for.
pub(crate) const ASIDE: f32 = 0.25;

/// The least share of the best score of what stands in order of price, size or date: a title with the words has it, a
/// description has not.
pub(crate) const SUPERLATIVE_SHARE_MIN: f32 = 0.8;

/// What one tier counts beside the best score by words: a product that holds every word stands before one that lacks some,
/// unless meaning and prominence speak for the other by more than that.
pub(crate) const TIER_STEP: f32 = 0.6;

/// How many of the first hits tell what is meant, and what they weigh beside the query itself when all are put in order
/// once more. On judged queries that is worth .006 of NDCG@10 and .008 of recall where queries are short of words.
pub(crate) const FEEDBACK_ROWS: usize = 15;
pub(crate) const FEEDBACK: f32 = 1.0;

/// A product that only its meaning speaks for must be this near to the query; nearer still when no product was found
/// by words, for then the query may mean nothing at all: letters typed at random come as near as 0.49 to some title,
/// and of judged queries one in twenty comes no nearer than 0.52 to its nearest.
pub(crate) const COSINE_MIN: f32 = 0.35;
pub(crate) const COSINE_ALONE_MIN: f32 = 0.5;
