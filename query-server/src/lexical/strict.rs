use data_index::terms::NO_ROW;
use data_index::{Filter, PartFilter, Release, RowAddress};
use tantivy::fastfield::AliveBitSet;

use super::cursor::GroupCursor;
use super::groups::OpenGroups;
use super::index::TextIndex;
use super::matches::{Marks, RowSet};
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

/// From one row in so many that hold its rarest word on, a part's rows are marked word by word.
const MARKED_FROM_ONE_IN: u32 = 1_024;
/// Words that so many times more rows hold than hold the rarest are looked up for what is left.
const MARKED_TIMES_MAX: u64 = 8;
/// So many postings are marked in the time of one step.
const MARKED_PER_STEP: u64 = 8;

/// The rows that hold the rarest words, the first of `groups`, where it is cheaper to mark the rows of each than to step
/// through them together: none of the rows that hold every word is missing.
fn marked(groups: &[GroupCursor<'_>], rows: u32, work: &mut Work) -> Option<RowSet> {
    let (rarest, others) = groups.split_first()?;
    if rarest.count() < u64::from(rows / MARKED_FROM_ONE_IN) {
        return None;
    }
    let most = MARKED_TIMES_MAX * rarest.count();
    let common = others.iter().take_while(|group| group.count() <= most).count();
    let all = groups.get(..=common).filter(|_| common > 0)?;
    let postings: u64 = all.iter().map(GroupCursor::count).sum();
    let steps = usize::try_from(postings / MARKED_PER_STEP).unwrap_or(usize::MAX);
    if steps >= work.steps_left / 2 {
        return None;
    }
    work.step(steps);
    work.read += postings;
    let rows_of = |group: &GroupCursor<'_>| {
        let mut held = RowSet::none(rows);
        group.each_row(|row| held.insert(row));
        held
    };
    let mut marked = rows_of(rarest);
    others
        .iter()
        .take(common)
        .for_each(|group| marked.keep(&rows_of(group)));
    Some(marked)
}

/// Calls `found` with every row of a part that has every word, in order.
fn walk(groups: &mut [GroupCursor<'_>], rows: u32, work: &mut Work, mut found: impl FnMut(u32, &[GroupCursor<'_>])) {
    if let Some(marked) = marked(groups, rows, work) {
        for row in marked.iter() {
            if !work.step(groups.len()) {
                return;
            }
            if groups.iter_mut().all(|group| group.seek(row) == row) {
                found(row, groups);
            }
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
        found(row, groups);
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
            walk(&mut groups, passing.rows, work, |row, groups| {
                if let Some(marks) = &mut marks {
                    marks.mark(RowAddress { part, row });
                }
                met.meet(row);
                if passing.has(row) {
                    let (mut score, mut title_level) = (0.0, u16::MAX);
                    for group in groups {
                        let of_word = group.score();
                        score += of_word.score;
                        title_level = title_level.min(of_word.title_level);
                    }
                    push(release, RowAddress { part, row }, (score, title_level), whole, top);
                }
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
        if passing.has(row) {
            let found = group.score();
            push(
                release,
                RowAddress { part, row },
                (found.score, found.title_level),
                whole,
                top,
            );
        }
        row = group.advance();
    }
}

fn push(release: &Release, at: RowAddress, (score, title_level): (f32, u16), whole: &Whole<'_>, top: &mut TopHits<'_>) {
    let tier = whole.tier(at, title_level);
    let mut score = score + if title_level > 0 { TITLE_BONUS } else { 0.0 };
    if tier == tier::ALL && top.beats(tier, score + QUALITY_BONUS) {
        return;
    }
    if tier == tier::TITLE {
        // They all fit alike: what else they hold decides nothing.
        score = 0.0;
    }
    top.push(tier, score + quality_bonus(release, at.part, at.row), at);
}
