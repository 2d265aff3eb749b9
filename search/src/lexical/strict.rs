use data_index::terms::NO_ROW;
use data_index::{Filter, Part, PartFilter, Release, RowAddress};

use super::cursor::WordScore;
use super::demands::Allowed;
use super::groups::OpenGroups;
use super::index::TextIndex;
use super::lists::GroupLists;
use super::matches::{Marks, RowSet};
use super::score::TITLE_BONUS;
use super::sieve::{Offer, SIFTED, Sieve};
use super::top::TopHits;
use super::whole::Whole;
use super::{FITTING_MIN, QUALITY_BONUS, Wanted, Work, tier};
use super::{alone, marked};

/// The rows of a part that may be answered.
#[derive(Clone, Copy)]
pub(super) struct Passing<'a> {
    rows: u32,
    alive: Option<&'a RowSet>,
    filter: Option<Option<&'a PartFilter>>,
    allowed: Option<&'a RowSet>,
}

impl<'a> Passing<'a> {
    pub(super) fn of(
        release: &Release,
        index: &'a TextIndex,
        (filter, allowed): (Option<&'a Filter>, Option<&'a Allowed>),
        part: u32,
    ) -> Self {
        Self {
            rows: release.part(part).map_or(0, data_index::Part::rows),
            alive: index.alive.get(part as usize).and_then(Option::as_ref),
            filter: filter.map(|filter| filter.part(part)),
            allowed: allowed.and_then(|allowed| allowed.part(part)),
        }
    }

    /// Whether no row of the part is dead or filtered out.
    pub(super) const fn has_all(&self) -> bool {
        self.alive.is_none() && self.filter.is_none() && self.allowed.is_none()
    }

    #[inline]
    pub(super) fn has(&self, row: u32) -> bool {
        row < self.rows
            && match self.filter {
                // A filter passes live rows alone.
                Some(filter) => filter.is_some_and(|filter| filter.matches(row)),
                None => self.alive.is_none_or(|alive| alive.has(row)),
            }
            && self.allowed.is_none_or(|allowed| allowed.has(row))
    }
}

/// Calls `found` with the rows of a part that have every word, in order, some at a time, and with what each has of them.
/// `groups` are the words, the rarest first.
fn walk(groups: &[GroupLists<'_>], rows: u32, work: &mut Work, mut found: impl FnMut(&[(u32, WordScore)])) {
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
        let score = others.iter().fold(first.score(), |sum, other| sum.and(other.score()));
        some.push((row, score));
        if some.len() == SIFTED {
            found(&some);
            some.clear();
        }
        row = first.advance();
    }
    found(&some);
    work.read += others
        .iter()
        .chain([&first])
        .map(super::cursor::GroupCursor::decoded)
        .sum::<u64>();
}

/// The lists of a part, those with the fewest products first; `None` when it lacks a word.
fn lists<'a>(open: &'a OpenGroups<'_>, part: u32) -> Option<Vec<GroupLists<'a>>> {
    let groups = (0..open.len()).map(|group| open.lists(part as usize, group));
    let mut groups = groups.collect::<Option<Vec<_>>>()?;
    groups.sort_by_key(GroupLists::count);
    Some(groups)
}

/// How many products were met before the filter, up to [`FITTING_MIN`].
pub(super) struct Met<'a> {
    /// Where they are counted; nowhere if the filter leaves nothing out.
    scope: Option<Passing<'a>>,
    count: usize,
}

impl Met<'_> {
    pub(super) fn meet(&mut self, found: &[(u32, WordScore)]) {
        let Some(scope) = &self.scope else { return };
        for (row, _) in found {
            if self.count >= FITTING_MIN {
                return;
            }
            self.count += usize::from(scope.has(*row));
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
    for (at, part) in (0..).zip(release.parts()) {
        let Some(groups) = lists(open, at) else {
            continue;
        };
        let passing = Passing::of(release, index, (wanted.filter, wanted.allowed), at);
        let mut taking = Taking::of(part, at, passing, whole);
        met.scope = wanted
            .narrowed
            .then(|| Passing::of(release, index, (wanted.scope, wanted.allowed), at));
        if let [group] = groups.as_slice() {
            if let Some(marks) = &mut marks {
                marks.mark_all(at, group);
            }
            alone::collect(group, &mut taking, (top, work, &mut met));
        } else {
            walk(&groups, part.rows(), work, |found| {
                if let Some(marks) = &mut marks {
                    marks.mark(at, found.iter().map(|(row, _)| *row));
                }
                met.meet(found);
                taking.take(found, top);
            });
        }
        taking.finish(top);
    }
    met.count
}

/// What is added to a score by the least title level of the words: looked up, for a branch on it could not be foretold.
const BONUSES: [f32; 8] = {
    let mut bonuses = [TITLE_BONUS; 8];
    bonuses[0] = 0.0;
    bonuses
};

/// The rows of a part that have every word, and what decides which of them are taken.
pub(super) struct Taking<'a> {
    at: u32,
    part: &'a Part,
    whole: &'a Whole<'a>,
    sieve: Sieve<'a>,
}

impl<'a> Taking<'a> {
    fn of(part: &'a Part, at: u32, passing: Passing<'a>, whole: &'a Whole<'a>) -> Self {
        Self {
            at,
            part,
            whole,
            sieve: Sieve::of(part, at, passing),
        }
    }

    /// How many rows the part has.
    pub(super) fn rows(&self) -> u32 {
        self.part.rows()
    }

    /// Whether no row that has at most this of the words is taken any more.
    pub(super) fn is_beaten(&self, bound: WordScore, top: &TopHits<'_>) -> bool {
        !self.whole.may_name(bound.title_level) && top.beats(tier::ALL, bound.score + TITLE_BONUS + QUALITY_BONUS)
    }

    /// Takes rows that have every word, each if it passes and is not worse than all that was found.
    pub(super) fn take(&mut self, found: &[(u32, WordScore)], top: &mut TopHits<'_>) {
        // Rows that the query names are looked at by themselves: mostly there are none.
        let mut named = Vec::new();
        let (whole, part) = (self.whole, self.part);
        let offer = |(row, found): (u32, WordScore)| {
            if whole.seems_to_name(part, row, found.title_level) {
                named.push((row, found));
                return Offer::NONE;
            }
            let score = found.score + BONUSES[usize::from(found.title_level) % BONUSES.len()];
            Offer {
                row,
                tier: tier::ALL,
                score,
            }
        };
        self.sieve.offer(found, offer, top);
        if !named.is_empty() {
            self.take_named(&named, top);
        }
    }

    #[cold]
    fn take_named(&mut self, found: &[(u32, WordScore)], top: &mut TopHits<'_>) {
        let (whole, part) = (self.whole, self.at);
        let offer = |(row, found): (u32, WordScore)| {
            let tier = whole.tier(RowAddress { part, row }, found.title_level);
            let score = match tier {
                // They all fit alike: what else they hold decides nothing.
                tier::TITLE => 0.0,
                _ => found.score + BONUSES[usize::from(found.title_level) % BONUSES.len()],
            };
            Offer { row, tier, score }
        };
        self.sieve.offer(found, offer, top);
    }

    /// Ends the part.
    fn finish(mut self, top: &mut TopHits<'_>) {
        self.sieve.finish(top);
    }
}
