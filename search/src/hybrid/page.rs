use super::answer::Answer;
use super::query::SearchQuery;
use super::retrieve::ranked;
use super::{capped, deep, tuning};
use crate::context::SearchContext;
use crate::lexical::Order;
use crate::request::Mode;

pub(crate) fn search(served: &SearchContext, query: &SearchQuery<'_>) -> Answer {
    if !query.is_deep() {
        return usual(served, query);
    }
    let short = SearchQuery {
        limit: tuning::CANDIDATES_PAGE,
        ..*query
    };
    let mut answer = usual(served, &short);
    if answer.more {
        deep::lengthen(served, query, &mut answer.rows);
        answer.cut(served, query);
    }
    answer
}

/// Finds a page of usual length.
fn usual(served: &SearchContext, query: &SearchQuery<'_>) -> Answer {
    let mut answer = ranked(served, query);
    capped::keep(served, query, &mut answer.rows);
    answer.cut(served, query);
    answer
}

pub(crate) fn finds_any(served: &SearchContext, query: &SearchQuery<'_>) -> bool {
    let few = SearchQuery {
        limit: 1,
        per_brand_max: None,
        folded: false,
        with_matches: false,
        order: Order::Relevance,
        // The filter already passes only the requested categories.
        kind_filters: &[],
        sense: None,
        superlative: None,
        ..*query
    };
    let is_of_words = few.mode != Mode::Semantic && few.similar_to.is_none();
    if is_of_words && !few.find(served, 1).hits.is_empty() {
        return true;
    }
    !ranked(served, &few).rows.is_empty()
}
