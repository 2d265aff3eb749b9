use data_index::RowAddress;
use rustc_hash::FxHashSet;

use super::{Answer, Question, by_words, fuse};
use crate::context::SearchContext;
use crate::lexical::{ScoredRow, listed, tier};
use crate::request::Mode;
use crate::semantic::Nearest;

/// What passes the filter, in the order of how near it is to what the query means: where words say what is to be done and
/// not what does it.
pub(super) fn by_sense(served: &SearchContext, question: &Question<'_>) -> Answer {
    let vector = question.sense.and_then(|sense| served.semantic.embed(sense).ok());
    let Some(vector) = vector else {
        return in_turn(served, question);
    };
    let nearest = Nearest {
        vector: &vector,
        like: question.similar_to,
        filter: question.filter,
        scope: question.scope,
        allowed: question.allowed,
        narrowed: false,
    };
    let near = nearest.in_order(&served.release, question.candidates(question.page()));
    let rows = fuse::fuse(&served.release, &[], &[], &near, None);
    Answer::new(rows, Mode::Hybrid, None)
}

/// The most presentable products of each kind of thing in turn: the first of each, then the second of each.
pub(super) fn in_turn(served: &SearchContext, question: &Question<'_>) -> Answer {
    let mut lists = Vec::with_capacity(question.turns.len());
    for turn in question.turns {
        let of_kind = Question {
            filter: Some(turn),
            with_matches: false,
            ..*question
        };
        let wanted = of_kind.wanted(question.candidates(question.page()));
        let ordered = served.browse.ordered(question.order, question.currency);
        lists.push(listed(&served.release, ordered, &wanted).hits.into_iter());
    }
    if lists.is_empty() {
        return by_words(served, question, None);
    }
    let mut seen: FxHashSet<RowAddress> = FxHashSet::default();
    let wanted = question.candidates(question.page());
    let mut hits: Vec<ScoredRow> = Vec::with_capacity(wanted);
    while hits.len() < wanted {
        let round: Vec<ScoredRow> = lists.iter_mut().filter_map(Iterator::next).collect();
        if round.is_empty() {
            break;
        }
        hits.extend(round.into_iter().filter(|hit| seen.insert(hit.at)));
    }
    hits.iter_mut().for_each(|hit| hit.tier = tier::ALL);
    Answer::new(fuse::words_alone(&served.release, &hits), Mode::Hybrid, None)
}
