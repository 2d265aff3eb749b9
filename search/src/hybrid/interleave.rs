use data_index::RowAddress;
use rustc_hash::FxHashSet;

use super::answer::Answer;
use super::query::SearchQuery;
use super::{fuse, tuning};
use crate::context::SearchContext;
use crate::lexical::{Narrowing, ScoredRow, listed, tier};
use crate::request::Mode;
use crate::semantic::Nearest;

/// Returns the products that pass the filter, nearest in meaning first, for a query that names a purpose and no
/// product.
pub(super) fn by_sense(served: &SearchContext, query: &SearchQuery<'_>) -> Option<Answer> {
    let vector = served.semantic.embed(query.sense?).ok()?;
    let nearest = Nearest {
        vector: &vector,
        like: query.similar_to,
        narrowing: query.narrowing,
    };
    let near = nearest.in_order(&served.release, query.candidates(query.page()));
    let rows = fuse::fuse(&served.release, &[], &[], &near, None, tuning::MEANING);
    Some(Answer::new(rows, Mode::Hybrid, None))
}

/// Interleaves the most presentable products of each category: the first of each, then the second of each.
pub(super) fn in_turn(served: &SearchContext, query: &SearchQuery<'_>) -> Option<Answer> {
    let mut lists = Vec::with_capacity(query.kind_filters.len());
    for turn in query.kind_filters {
        let of_kind = SearchQuery {
            narrowing: Narrowing {
                filter: Some(turn),
                ..query.narrowing
            },
            with_matches: false,
            ..*query
        };
        let wanted = of_kind.wanted(query.candidates(query.page()));
        let ordered = served.browse.ordered(query.order, query.currency);
        lists.push(listed(&served.release, ordered, &wanted).hits.into_iter());
    }
    if lists.is_empty() {
        return None;
    }
    let mut seen: FxHashSet<RowAddress> = FxHashSet::default();
    let wanted = query.candidates(query.page());
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
