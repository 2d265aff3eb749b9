use data_embedding::Vector;
use data_index::{Filter, RowAddress};
use data_model::CurrencyCode;
use data_understanding::Superlative;
use rustc_hash::FxHashSet;

use super::{fuse, tuning};
use crate::context::SearchContext;
use crate::lexical::{self, AllowedRows, LexicalHits, LexicalQuery, Narrowing, Order, Sort, Synonym};
use crate::request::Mode;

/// A search, ready to be run on a release.
#[derive(Debug)]
pub(crate) struct SearchQuery<'a> {
    pub(crate) text: &'a str,
    /// The words that were typed where the text has their translation.
    pub(crate) typed: &'a [Synonym],
    pub(crate) mode: Mode,
    pub(crate) narrowing: Narrowing<'a>,
    /// The rows whose description or category may be of a kind that is refused: they stand last.
    pub(crate) doubtful: Option<&'a AllowedRows>,
    /// True where the text says whom it is for.
    pub(crate) is_for_somebody: bool,
    /// A filter for each kind of thing, where kinds are looked for and no words: products are answered from each in
    /// turn.
    pub(crate) kind_filters: &'a [Filter],
    /// The text whose meaning orders the products that pass the filter, where no words are looked for.
    pub(crate) sense: Option<&'a str>,
    pub(crate) order: Order,
    /// The order of the best fitting products, in order of relevance.
    pub(crate) superlative: Option<Superlative>,
    /// The currency that prices are ordered in.
    pub(crate) currency: CurrencyCode,
    pub(crate) limit: usize,
    /// Most products of one brand.
    pub(crate) per_brand_max: Option<usize>,
    /// True where of siblings the first alone is answered.
    pub(crate) folded: bool,
    /// A product that the results must be like; it is none of them.
    pub(crate) similar_to: Option<RowAddress>,
    /// True where all that the search is about is asked for besides.
    pub(crate) with_matches: bool,
}

impl SearchQuery<'_> {
    /// True where words and meaning together put more products in order than a usual page has.
    pub(super) fn is_deep(&self) -> bool {
        let is_weighed = self.mode == Mode::Hybrid && self.order == Order::Relevance && !self.text.trim().is_empty();
        is_weighed && self.limit > tuning::CANDIDATES_PAGE
    }

    /// The page size that a search is made for: a short page is the beginning of a usual one.
    pub(super) fn page(&self) -> usize {
        self.limit.max(tuning::CANDIDATES_PAGE)
    }

    /// The number of hits of either kind that are weighed together.
    pub(super) fn both_candidates(&self) -> usize {
        if self.order != Order::Relevance || self.superlative.is_some() {
            // The cheapest product must not depend on the number that is shown.
            return self.candidates(tuning::CANDIDATES_MAX);
        }
        let further = self.page() - tuning::CANDIDATES_PAGE;
        let usually = tuning::CANDIDATES + further.saturating_mul(tuning::CANDIDATES_PER_FURTHER);
        self.candidates(usually.min(tuning::CANDIDATES_MAX))
    }

    /// The number of hits to gather, of which at least the page's are needed.
    pub(super) fn candidates(&self, usually: usize) -> usize {
        // One more says whether there are more, and one more, where the product that they are like is among them.
        usually.max(self.page() + 1 + usize::from(self.similar_to.is_some()))
    }

    /// The vector to look near to: that of the text, moved half way to the product's that is to be like.
    pub(super) fn moved(&self, served: &SearchContext, vector: Vector) -> Vector {
        let like = self.similar_to.and_then(|at| served.release.vector(at));
        let Some(like) = like.filter(|like| like.dimensions() == vector.dimensions()) else {
            return vector;
        };
        let pairs = vector.components().iter().zip(like.components());
        let sum: Vec<f32> = pairs.map(|(one, other)| f32::from(*one) + f32::from(*other)).collect();
        // Opposite vectors have no middle.
        Vector::new(&sum).unwrap_or(vector)
    }

    /// True where these hits by words leave no place for hits by meaning alone: neither on the page nor among the
    /// first, which tell what is meant. Then nobody need look for it.
    pub(super) fn is_settled(&self, found: &LexicalHits, demoted: &FxHashSet<RowAddress>) -> bool {
        let first = self.page().max(tuning::FEEDBACK_ROWS);
        let suffices = found.suffices && demoted.is_empty();
        self.similar_to.is_none() && (suffices || fuse::is_settled(&found.hits, demoted, first))
    }

    /// True where the words find nothing before the filter either, wherever they are looked for.
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
            typed: self.typed,
            narrowing: self.narrowing,
            sort: self.sort(),
            limit,
            enough: self.page(),
            // Likeness to a product is a matter of degree: the shown products are counted.
            with_matches: self.with_matches && self.similar_to.is_none(),
        }
    }
}
