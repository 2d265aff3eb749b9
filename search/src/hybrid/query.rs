use data_embedding::Vector;
use data_index::{Filter, RowAddress};
use data_model::CurrencyCode;
use data_understanding::Superlative;
use rustc_hash::FxHashSet;

use super::{fuse, tuning};
use crate::context::SearchContext;
use crate::lexical::{self, LexicalHits, LexicalQuery, Mention, Narrowing, Order, Sort, Synonym, tier};
use crate::request::Mode;

/// Search that is ready to run on a release.
#[derive(Debug)]
pub(crate) struct SearchQuery<'a> {
    pub(crate) text: &'a str,
    /// Words as typed, for those that were translated in the text.
    pub(crate) typed: &'a [Synonym],
    pub(crate) mode: Mode,
    pub(crate) narrowing: Narrowing<'a>,
    /// Mentions of unwanted things. Rows that deny them are ranked first, and other rows with them last.
    pub(crate) mentions: &'a [Mention],
    /// True for a question or another sentence.
    pub(crate) is_sentence: bool,
    /// True if the text names a gift, an occasion, a recipient or an age.
    pub(crate) is_for_somebody: bool,
    /// One filter per category, if categories are searched without words. The results alternate between the categories.
    pub(crate) kind_filters: &'a [Filter],
    /// Text whose meaning orders the products that pass the filter, if there are no words to search for.
    pub(crate) sense: Option<&'a str>,
    pub(crate) order: Order,
    /// Superlative that sorts the best fitting products, within the order by relevance.
    pub(crate) superlative: Option<Superlative>,
    /// Currency of sorted prices.
    pub(crate) currency: CurrencyCode,
    pub(crate) limit: usize,
    /// Maximum number of products per brand.
    pub(crate) per_brand_max: Option<usize>,
    /// True if only the first of each family of siblings is returned.
    pub(crate) folded: bool,
    /// Product that the results must be similar to. It is not a result itself.
    pub(crate) similar_to: Option<RowAddress>,
    /// True if all matching rows are also requested.
    pub(crate) with_matches: bool,
}

impl SearchQuery<'_> {
    /// Returns true if the page is longer than usual and ranked by words and meaning together.
    pub(super) fn is_deep(&self) -> bool {
        let is_weighed = self.mode == Mode::Hybrid && self.order == Order::Relevance && !self.text.trim().is_empty();
        is_weighed && self.limit > tuning::CANDIDATES_PAGE
    }

    /// A short page is the start of a usual page.
    pub(super) fn page(&self) -> usize {
        self.limit.max(tuning::CANDIDATES_PAGE)
    }

    /// Returns the number of lexical and of semantic hits that are ranked together.
    pub(super) fn both_candidates(&self) -> usize {
        if self.order != Order::Relevance || self.superlative.is_some() {
            // The cheapest product must not depend on the page size.
            return self.candidates(tuning::CANDIDATES_MAX);
        }
        let further = self.page() - tuning::CANDIDATES_PAGE;
        let usually = tuning::CANDIDATES + further.saturating_mul(tuning::CANDIDATES_PER_FURTHER);
        self.candidates(usually.min(tuning::CANDIDATES_MAX))
    }

    /// Returns the number of hits to retrieve, which is at least that of the page.
    pub(super) fn candidates(&self, usually: usize) -> usize {
        // One extra hit shows that there are more than on the page. Another one replaces the reference product of a
        // similarity search.
        usually.max(self.page() + 1 + usize::from(self.similar_to.is_some()))
    }

    /// Returns the vector of the text, moved halfway to that of the reference product.
    pub(super) fn moved(&self, served: &SearchContext, vector: Vector) -> Vector {
        let like = self.similar_to.and_then(|at| served.release.vector(at));
        let Some(like) = like.filter(|like| like.dimensions() == vector.dimensions()) else {
            return vector;
        };
        let pairs = vector.components().iter().zip(like.components());
        let sum: Vec<f32> = pairs.map(|(one, other)| f32::from(*one) + f32::from(*other)).collect();
        // Opposite vectors have no midpoint.
        Vector::new(&sum).unwrap_or(vector)
    }

    /// Returns true if no semantic search is needed. If enough products have every word, the counts are of these, and
    /// semantic hits must not appear on the page. Otherwise they may be unable to get onto the page or among the first
    /// hits, which indicate the meaning.
    pub(super) fn is_settled(&self, found: &LexicalHits, demoted: &FxHashSet<RowAddress>) -> bool {
        let first = self.page().max(tuning::FEEDBACK_ROWS);
        self.similar_to.is_none()
            && (found.suffices || fuse::is_settled(&found.hits, demoted, first, self.meaning(found)))
    }

    /// Returns the weight of meaning in the scores.
    pub(super) fn meaning(&self, found: &LexicalHits) -> f32 {
        let has_all = found.hits.first().is_some_and(|hit| hit.tier >= tier::ALL);
        if self.is_sentence && !has_all {
            tuning::MEANING_OF_SENTENCE
        } else {
            tuning::MEANING
        }
    }

    /// Returns true if the words find nothing even without the filter and scope.
    pub(super) fn is_silent(&self, served: &SearchContext) -> bool {
        if self.narrowing.filter.is_none() {
            return true;
        }
        let before = SearchQuery {
            narrowing: self.narrowing.everywhere(),
            with_matches: false,
            ..*self
        };
        before.find(served, 1).hits.is_empty()
    }

    pub(super) fn find(&self, served: &SearchContext, limit: usize) -> LexicalHits {
        let wanted = self.wanted(limit);
        if self.text.trim().is_empty() {
            let ordered = served.browse.ordered(self.order, self.currency);
            return lexical::listed(&served.release, ordered, &wanted);
        }
        lexical::search(&served.release, &served.text, &wanted)
    }

    pub(super) fn sort(&self) -> Sort {
        Sort {
            order: self.order,
            currency: Some(self.currency),
        }
    }

    pub(super) fn wanted(&self, limit: usize) -> LexicalQuery<'_> {
        LexicalQuery {
            text: self.text,
            as_typed: self.mode == Mode::Lexical,
            is_sentence: self.is_sentence,
            typed: self.typed,
            narrowing: self.narrowing,
            sort: self.sort(),
            limit,
            enough: self.page(),
            // A similarity search counts only the shown products, because similarity is a matter of degree.
            with_matches: self.with_matches && self.similar_to.is_none(),
        }
    }
}
