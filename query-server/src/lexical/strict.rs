use data_index::terms::NO_ROW;
use data_index::{Filter, PartFilter, Release, RowAddress};
use tantivy::fastfield::AliveBitSet;

use super::cursor::{GroupCursor, WordScore};
use super::groups::OpenGroups;
use super::index::TextIndex;
use super::marked;
use super::matches::Marks;
use super::score::TITLE_BONUS;
use super::top::TopHits;
use super::whole::Whole;
use super::{FITTING_MIN, QUALITY_BONUS, Wanted, Work, quality_bonus, tier};

/// The rows of a part that may be answered.
#[derive(Clone, Copy)]
pub(super) struct Passing<'a> {
    rows: u32,
    alive: Option<&'a AliveBitSet>,
    filter: Option<Option<&'a PartFilter>>,
}

impl<'a> Passing<'a> {
    pub(super) fn of(release: &Release, index: &'a TextIndex, filter: Option<&'a Filter>, part: u32) -> Self {
        let segment = index.segments.get(part as usize);
        Self {
            rows: release.part(part).map_or(0, data_index::Part::rows),
            alive: segment.and_then(|segment| segment.reader.alive_bitset()),
            filter: filter.map(|filter| filter.part(part)),
        }
    }

    /// Whether no row of the part is dead or filtered out.
    pub(super) const fn has_all(&self) -> bool {
        self.alive.is_none() && self.filter.is_none()
    }

    #[inline]
    pub(super) fn has(&self, row: u32) -> bool {
        row < self.rows
            && match self.filter {
                // A filter passes live rows alone.
                Some(filter) => filter.is_some_and(|filter| filter.matches(row)),
                None => self.alive.is_none_or(|alive| alive.is_alive(row)),
            }
    }
}

/// Calls `found` with every row of a part that has every word, in order, and with what it has of them.
fn walk(groups: &mut [GroupCursor<'_>], rows: u32, work: &mut Work, mut found: impl FnMut(u32, WordScore)) {
    if let Some(marked) = marked::every_word(groups, rows, work) {
        for (row, score) in marked {
            found(row, score);
        }
        return;
    }
    let Some(mut row) = groups.first().map(GroupCursor::row) else {
        return;
    };
    'rows: while row != NO_ROW && work.step(groups.len()) {
        for at in 1..groups.len() {
            let next = groups[at].seek(row);
            if next != row {
                row = groups[0].seek(next);
                continue 'rows;
            }
        }
        let of_all = |sum: WordScore, group: &GroupCursor<'_>| sum.and(group.score());
        found(row, groups.iter().fold(WordScore::OF_NONE, of_all));
        row = groups[0].advance();
    }
}

/// The cursors of a part, those with the fewest products first; `None` when it lacks a word.
fn cursors<'a>(open: &OpenGroups<'a>, part: u32) -> Option<Vec<GroupCursor<'a>>> {
    let groups = (0..open.len()).map(|group| open.cursor(part as usize, group));
    let mut groups = groups.collect::<Option<Vec<_>>>()?;
    groups.sort_by_key(GroupCursor::count);
    Some(groups)
}

/// How many products were met before the filter, up to [`FITTING_MIN`].
struct Met<'a> {
    /// Where they are counted; nowhere if the filter leaves nothing out.
    scope: Option<Passing<'a>>,
    count: usize,
}

impl Met<'_> {
    fn meet(&mut self, row: u32) {
        if self.count < FITTING_MIN && self.scope.as_ref().is_some_and(|scope| scope.has(row)) {
            self.count += 1;
        }
    }
}

/// Collects the products that have every word in some field. Answers how many there are in the scope where the filter
/// narrows it, up to [`FITTING_MIN`].
pub(super) fn collect(
    release: &Release,
    index: &TextIndex,
    open: &OpenGroups<'_>,
    (wanted, whole): (&Wanted<'_>, &Whole<'_>),
    (top, work, mut marks): (&mut TopHits<'_>, &mut Work, Option<&mut Marks<'_>>),
) -> usize {
    if open.known.iter().any(|known| !known) {
        return 0;
    }
    let mut met = Met { scope: None, count: 0 };
    for part in (0..).take(release.parts().len()) {
        let Some(mut groups) = cursors(open, part) else {
            continue;
        };
        let passing = Passing::of(release, index, wanted.filter, part);
        met.scope = wanted.narrowed.then(|| Passing::of(release, index, wanted.scope, part));
        if let [group] = groups.as_mut_slice() {
            if let Some(marks) = &mut marks {
                marks.mark_all(part, group);
            }
            collect_one(release, part, (group, passing), whole, (top, work, &mut met));
        } else {
            walk(&mut groups, passing.rows, work, |row, found| {
                if let Some(marks) = &mut marks {
                    marks.mark(RowAddress { part, row });
                }
                met.meet(row);
                push(release, RowAddress { part, row }, (found, passing), whole, top);
            });
        }
        groups.iter().for_each(|group| work.read += group.decoded());
    }
    met.count
}

/// One word alone: blocks of its list that hold nothing better than what was found are left out.
fn collect_one(
    release: &Release,
    part: u32,
    (group, passing): (&mut GroupCursor<'_>, Passing<'_>),
    whole: &Whole<'_>,
    (top, work, met): (&mut TopHits<'_>, &mut Work, &mut Met<'_>),
) {
    let mut row = group.row();
    // The first row of a block is where its bound is asked for.
    let mut until = 0;
    while row != NO_ROW && work.step(1) {
        if row >= until {
            if let Some((bound, most)) = group.block_bound() {
                let special = whole.is_brand() || most.title_weight() > 1.35;
                if !special && top.beats(tier::ALL, bound + TITLE_BONUS + QUALITY_BONUS) {
                    row = group.skip_block();
                    continue;
                }
            }
            until = row.saturating_add(1).max(group.block_end());
        }
        met.meet(row);
        push(release, RowAddress { part, row }, (group.score(), passing), whole, top);
        row = group.advance();
    }
}

/// Takes a row that has every word, if it passes and is not worse than all that was found.
fn push(
    release: &Release,
    at: RowAddress,
    (found, passing): (WordScore, Passing<'_>),
    whole: &Whole<'_>,
    top: &mut TopHits<'_>,
) {
    let tier = whole.tier(at, found.title_level);
    let mut score = found.score + if found.title_level > 0 { TITLE_BONUS } else { 0.0 };
    // Most rows end here, before the filter is asked.
    if (tier == tier::ALL && top.beats(tier, score + QUALITY_BONUS)) || !passing.has(at.row) {
        return;
    }
    if tier == tier::TITLE {
        // They all fit alike: what else they hold decides nothing.
        score = 0.0;
    }
    top.push(tier, score + quality_bonus(release, at.part, at.row), at);
}
