//! Every number that decides about the hits of hybrid search and their order. Chosen on judged queries.

/// Hits by words, and as many by meaning, that are taken into account for a page of twenty or fewer, and how many more
/// for each further product that may be shown: a product far down has more rivals. On judged queries, 40 shown, 100
/// cost .0002 of NDCG@10 beside 200, and up to .006 of recall; 50 shown, 400 are worth .0003 of recall beside 250.
pub(crate) const CANDIDATES: usize = 100;
pub(crate) const CANDIDATES_PAGE: usize = 20;
pub(crate) const CANDIDATES_PER_FURTHER: usize = 10;
/// A page of so many, the most that the contract allows, decides what follows a usual page.
pub(crate) const LONG_PAGE: usize = 40;
/// So many and no more, however much is shown.
pub(crate) const CANDIDATES_MAX: usize = 400;

/// The share of meaning in a score; the rest is that of words. From .2 to .35 little changes.
/// The share .4, where no product holds every word, is worth .002 of NDCG@10 on one judged set and costs .0014, and
/// .003 of recall, on the other.
pub(crate) const MEANING: f32 = 0.3;
/// Nearness is a share of the nearest's, or of this where that is farther: the nearest product to a text that means
/// next to nothing is not near.
pub(crate) const COSINE_WHOLE_MIN: f32 = 0.45;

/// The worth of a category that is called what the query says the thing is: a television stands before the things that
/// televisions stand on.
pub(crate) const CATEGORY: f32 = 0.02;

/// The factor on the score of a product that is something for the thing that a query names: a laptop's sleeve comes
/// after the laptops, even after those that only their meaning speaks for.
pub(crate) const DEMOTION: f32 = 0.25;

/// The least share of the best score of products in order of price, size or date: a title with the words has it, a
/// description has not.
pub(crate) const SUPERLATIVE_SHARE_MIN: f32 = 0.8;

/// The worth of one tier beside the best score by words: a product that holds every word stands before one that lacks
/// some, unless meaning and prominence speak for the other by more than that.
pub(crate) const TIER_STEP: f32 = 0.6;

/// The number of first hits that show what is meant, and their weight beside the query itself when all are put in order
/// once more. On judged queries that is worth .006 of NDCG@10 and .008 of recall where queries are short of words.
pub(crate) const FEEDBACK_ROWS: usize = 15;
pub(crate) const FEEDBACK: f32 = 1.0;

/// A product that only its meaning speaks for must be this near to the query; nearer still when no product was found
/// by words, for then the query may mean nothing at all: letters typed at random come as near as 0.49 to some title,
/// and of judged queries one in twenty comes no nearer than 0.52 to its nearest.
pub(crate) const COSINE_MIN: f32 = 0.35;
pub(crate) const COSINE_ALONE_MIN: f32 = 0.5;
