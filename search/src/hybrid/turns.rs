use data_index::RowAddress;
use rustc_hash::FxHashSet;

use super::answer::Answer;
use super::fuse;
use super::question::Question;
use crate::context::SearchContext;
use crate::lexical::{Narrowing, ScoredRow, listed, tier};
use crate::request::Mode;
use crate::semantic::Nearest;

/// What passes the filter, in the order of how near it is to what the query means: where words say what is to be done and
/// not what does it.
pub(super) fn by_sense(served: &SearchContext, question: &Question<'_>) -> Option<Answer> {
    let vector = served.semantic.embed(question.sense?).ok()?;
    let nearest = Nearest {
        vector: &vector,
        like: question.similar_to,
        narrowing: question.narrowing,
    };
    let near = nearest.in_order(&served.release, question.candidates(question.page()));
    let rows = fuse::fuse(&served.release, &[], &[], &near, None);
    Some(Answer::new(rows, Mode::Hybrid, None))
}

/// The most presentable products of each kind of thing in turn: the first of each, then the second of each.
pub(super) fn in_turn(served: &SearchContext, question: &Question<'_>) -> Option<Answer> {
    let mut lists = Vec::with_capacity(question.turns.len());
    for turn in question.turns {
        let of_kind = Question {
            narrowing: Narrowing {
                filter: Some(turn),
                ..question.narrowing
            },
            with_matches: false,
            ..*question
        };
        let wanted = of_kind.wanted(question.candidates(question.page()));
        let ordered = served.browse.ordered(question.order, question.currency);
        lists.push(listed(&served.release, ordered, &wanted).hits.into_iter());
    }
    if lists.is_empty() {
        return None;
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
    Some(Answer::new(
        fuse::words_alone(&served.release, &hits),
        Mode::Hybrid,
        None,
    ))
}
