use data_embedding::Vector;
use data_index::{Filter, RowAddress};
use data_model::CurrencyCode;
use data_understanding::Superlative;
use rustc_hash::FxHashSet;

use super::{fuse, tuning};
use crate::context::SearchContext;
use crate::lexical::{self, Allowed, Found, Narrowing, Order, Sort, Wanted};
use crate::request::Mode;

/// What a search asks for.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    pub(crate) text: &'a str,
    pub(crate) mode: Mode,
    pub(crate) narrowing: Narrowing<'a>,
    /// What may be what is refused: it stands last.
    pub(crate) doubtful: Option<&'a Allowed>,
    /// True where it is for somebody who is told of.
    pub(crate) is_for_somebody: bool,
    /// Where no words are looked for but kinds of thing: a filter for each, in whose turn products are answered.
    pub(crate) turns: &'a [Filter],
    /// Where no words are looked for: the text whose meaning puts what passes the filter in order.
    pub(crate) sense: Option<&'a str>,
    pub(crate) order: Order,
    /// The order of what fits best, in order of relevance.
    pub(crate) superlative: Option<Superlative>,
    /// What prices are ordered in.
    pub(crate) currency: CurrencyCode,
    pub(crate) limit: usize,
    /// Most products of one brand.
    pub(crate) per_brand_max: Option<usize>,
    /// True where of siblings the first alone is answered.
    pub(crate) folded: bool,
    /// A product that what is found must be like; it is not found itself.
    pub(crate) similar_to: Option<RowAddress>,
    /// True where all that the search is about is asked for besides.
    pub(crate) with_matches: bool,
}

impl Question<'_> {
    /// True where more is to be shown than a usual page has, of what both words and meaning put in order.
    pub(super) fn is_deep(&self) -> bool {
        let is_weighed = self.mode == Mode::Hybrid && self.order == Order::Relevance && !self.text.trim().is_empty();
        is_weighed && self.limit > tuning::CANDIDATES_PAGE
    }

    /// What is looked for as if so many were to be shown: a short page is the beginning of a usual one.
    pub(super) fn page(&self) -> usize {
        self.limit.max(tuning::CANDIDATES_PAGE)
    }

    /// How many hits of either kind to gather for both to be weighed.
    pub(super) fn both_candidates(&self) -> usize {
        if self.order != Order::Relevance || self.superlative.is_some() {
            // The cheapest of what is found must not depend on how many are shown.
            return self.candidates(tuning::CANDIDATES_MAX);
        }
        let further = self.page() - tuning::CANDIDATES_PAGE;
        let usually = tuning::CANDIDATES + further.saturating_mul(tuning::CANDIDATES_PER_FURTHER);
        self.candidates(usually.min(tuning::CANDIDATES_MAX))
    }

    /// How many hits to gather, of which at least the page's are wanted.
    pub(super) fn candidates(&self, usually: usize) -> usize {
        // One more tells whether there are more, and one more, where the product that they are like is among them.
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

    /// True where these hits by words leave no place for what is found by meaning alone: neither on the page nor among the
    /// first, which tell what is meant. Then nobody need look for it.
    pub(super) fn is_settled(&self, found: &Found, aside: &FxHashSet<RowAddress>) -> bool {
        let first = self.page().max(tuning::FEEDBACK_ROWS);
        let suffices = found.suffices && aside.is_empty();
        self.similar_to.is_none() && (suffices || fuse::is_settled(&found.hits, aside, first))
    }

    /// True where the words find nothing before the filter either, wherever they are looked for.
    pub(super) fn is_silent(&self, served: &SearchContext) -> bool {
        if self.narrowing.filter.is_none() {
            return true;
        }
        let before = Question {
            narrowing: self.narrowing.everywhere(),
            with_matches: false,
            ..*self
        };
        before.find(served, 1).hits.is_empty()
    }

    pub(super) fn find(&self, served: &SearchContext, limit: usize) -> Found {
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

    pub(super) fn wanted(&self, limit: usize) -> Wanted<'_> {
        Wanted {
            text: self.text,
            as_typed: self.mode == Mode::Lexical,
            narrowing: self.narrowing,
            sort: self.sort(),
            limit,
            enough: self.page(),
            // Likeness to a product is a matter of degree: what is shown is counted.
            with_matches: self.with_matches && self.similar_to.is_none(),
        }
    }
}
