use super::answer::Answer;
use super::question::Question;
use super::retrieve::ranked;
use super::{capped, deep, tuning};
use crate::context::SearchContext;
use crate::lexical::Order;
use crate::request::Mode;

/// Finds what a question asks for.
pub(crate) fn search(served: &SearchContext, question: &Question<'_>) -> Answer {
    if !question.is_deep() {
        return usual(served, question);
    }
    let short = Question {
        limit: tuning::CANDIDATES_PAGE,
        ..*question
    };
    let mut answer = usual(served, &short);
    if answer.more {
        deep::lengthen(served, question, &mut answer.rows);
        answer.cut(served, question);
    }
    answer
}

/// Finds a page of usual length.
fn usual(served: &SearchContext, question: &Question<'_>) -> Answer {
    let mut answer = ranked(served, question);
    capped::keep(served, question, &mut answer.rows);
    answer.cut(served, question);
    answer
}

/// True where a question finds anything at all.
pub(crate) fn finds_any(served: &SearchContext, question: &Question<'_>) -> bool {
    let few = Question {
        limit: 1,
        per_brand_max: None,
        folded: false,
        with_matches: false,
        order: Order::Relevance,
        // What passes the filter is of the kinds of thing that are asked for.
        turns: &[],
        sense: None,
        superlative: None,
        ..*question
    };
    let is_of_words = few.mode != Mode::Semantic && few.similar_to.is_none();
    if is_of_words && !few.find(served, 1).hits.is_empty() {
        return true;
    }
    !ranked(served, &few).rows.is_empty()
}
