use data_index::terms::NO_ROW;

use super::candidate_buffer::SIFTED;
use super::collector::{Collector, Search};
use super::cursor::{GroupCursor, RowScore};
use super::groups::OpenGroups;
use super::lists::GroupLists;
use super::part_collector::{MatchCount, PartCollector};
use super::work::Work;
use super::{alone, marked};

/// Passes the rows of a part with every word to `found` in batches and in order, each with its score. `groups` are the
/// words, rarest first.
fn walk(groups: &[GroupLists<'_>], rows: u32, work: &mut Work, mut found: impl FnMut(&[RowScore])) {
    if let Some(marked) = marked::every_word(groups, rows, work) {
        return found(&marked);
    }
    let cursors: Option<Vec<_>> = groups.iter().map(GroupLists::cursor).collect();
    let Some((mut first, mut others)) = cursors.and_then(|mut cursors| {
        let others = cursors.split_off(1);
        Some((cursors.pop()?, others))
    }) else {
        return;
    };
    let mut some = Vec::with_capacity(SIFTED);
    let mut row = first.row();
    'rows: while row != NO_ROW && work.step(groups.len()) {
        for other in &mut others {
            let next = other.seek(row);
            if next != row {
                row = first.seek(next);
                continue 'rows;
            }
        }
        let sum = others.iter().fold(first.score(), |sum, other| sum.and(other.score()));
        some.push(RowScore { row, found: sum });
        if some.len() == SIFTED {
            found(&some);
            some.clear();
        }
        row = first.advance();
    }
    found(&some);
    work.read += others.iter().chain([&first]).map(GroupCursor::decoded).sum::<u64>();
}

/// Returns the lists of a part, rarest word first. `None` if no product of the part has one of the words.
fn lists<'a>(open: &'a OpenGroups<'_>, part: u32) -> Option<Vec<GroupLists<'a>>> {
    let groups = (0..open.len()).map(|group| open.lists(part as usize, group));
    let mut groups = groups.collect::<Option<Vec<_>>>()?;
    groups.sort_by_key(GroupLists::count);
    Some(groups)
}

/// Collects the products with every word in some field. Returns their number in the scope if a filter narrows it, at
/// most [`FITTING_MIN`].
pub(super) fn collect(search: &Search<'_>, open: &OpenGroups<'_>, collector: &mut Collector<'_, '_>) -> usize {
    if open.known.iter().any(|known| !known) {
        return 0;
    }
    let mut met = MatchCount { scope: None, count: 0 };
    for (at, part) in (0..).zip(search.release.parts()) {
        let Some(groups) = lists(open, at) else {
            continue;
        };
        let mut part_collector = PartCollector::of(part, at, search.eligible(at), search.whole);
        met.scope = search.scope(at);
        if let [group] = groups.as_slice() {
            if let Some(marks) = &mut collector.marks {
                marks.mark_all(at, group);
            }
            alone::collect(group, &mut part_collector, &mut met, collector);
        } else {
            let Collector { top, work, marks } = &mut *collector;
            walk(&groups, part.rows(), work, |found| {
                if let Some(marks) = marks {
                    marks.mark(at, found.iter().map(|found| found.row));
                }
                met.meet(found);
                part_collector.take(found, top);
            });
        }
        part_collector.finish(&mut collector.top);
    }
    met.count
}
