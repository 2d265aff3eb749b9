use std::cell::RefCell;

use data_index::terms::NO_ROW;
use data_index::{Release, RowAddress};

use super::cursor::GroupCursor;
use super::groups::OpenGroups;
use super::index::{TextIndex, as_float};
use super::matches::{Marks, RowSet};
use super::strict::Passing;
use super::top::TopHits;
use super::{QUALITY_BONUS, Wanted, Work, quality_bonus, tier};

/// A product's score so far, and how many words it holds.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    score: f32,
    held: u32,
}

thread_local! {
    // One for each row of the largest part, all zero between searches: to clear what a search touched is much
    // cheaper than to have the whole of it zeroed for each.
    static SUMS: RefCell<Vec<Sum>> = const { RefCell::new(Vec::new()) };
}

/// Collects products that hold some of the words but not all: scores of every word are added up product by product.
pub(super) fn collect(
    release: &Release,
    index: &TextIndex,
    open: &OpenGroups<'_>,
    wanted: &Wanted<'_>,
    (top, work, mut marks): (&mut TopHits<'_>, &mut Work, Option<&mut Marks<'_>>),
) {
    let mut levels = Levels::of(open.len());
    let mut take = |top: &mut TopHits<'_>, at: RowAddress, score: f32, held: usize| {
        if let Some(marks) = &mut marks {
            marks.mark_some(at, held + 1 == open.len());
        }
        let Some(level) = levels.0.get(held) else { return };
        // Most end here. Those that hold all words were collected before.
        if score < level.floor || held == open.len() {
            return;
        }
        let (tier, score) = (level.tier, score * level.share);
        if !top.beats(tier, score + QUALITY_BONUS) && Passing::of(release, index, wanted.filter, at.part).has(at.row) {
            top.push(tier, score + quality_bonus(release, at.part, at.row), at);
            levels.lift(top);
        }
    };
    let divided = Divided::of(open, work.postings_max);
    let mut seen = if divided.looked_up.is_empty() {
        Vec::new()
    } else {
        RowSet::none_of(release)
    };
    sums(release, open, &divided, work, |at, score, held| {
        if let Some(seen) = seen.get_mut(at.part as usize) {
            seen.insert(at.row);
        }
        take(top, at, score, held);
    });
    // Filters may leave nothing of the rare words' products: then the common ones are asked for after all.
    for (at, group) in divided.looked_up.iter().enumerate() {
        if top.len() >= wanted.enough {
            break;
        }
        let rest = divided.looked_up.get(at + 1..).unwrap_or_default();
        walk(open, (*group, rest), &mut seen, work, |at, score, held| {
            take(top, at, score, held)
        });
    }
}

/// By how many words a product holds: what its score is worth.
struct Levels(Vec<Level>);

struct Level {
    tier: u8,
    share: f32,
    /// No product whose words score less is taken any more.
    floor: f32,
}

impl Levels {
    fn of(words: usize) -> Self {
        let all = as_float(words as u64);
        let level = |held: usize| Level {
            tier: if held + 1 >= words {
                tier::ALL_BUT_ONE
            } else {
                tier::ANY
            },
            // Two rare words of four tell more than one that is rarer still.
            share: (as_float(held as u64) / all).sqrt(),
            floor: f32::NEG_INFINITY,
        };
        Self((0..=words).map(level).collect())
    }

    /// Takes note of what was found, a little below what rounding may hide.
    fn lift(&mut self, top: &TopHits<'_>) {
        for level in self.0.iter_mut().filter(|level| level.share > 0.0) {
            let floor = (top.floor(level.tier) - QUALITY_BONUS) / level.share;
            level.floor = if floor.is_finite() {
                floor - floor.abs() * ROUNDING
            } else {
                floor
            };
        }
    }
}

/// More than sums of scores differ by when they are divided and multiplied again.
const ROUNDING: f32 = 1e-4;

/// Calls `found` with every product that holds the word of a group and was not seen yet, and with what it holds of `rest`.
fn walk(
    open: &OpenGroups<'_>,
    (group, rest): (usize, &[usize]),
    seen: &mut [RowSet],
    work: &mut Work,
    mut found: impl FnMut(RowAddress, f32, usize),
) {
    for (part, seen) in (0..).zip(seen) {
        let cursor = |group: &usize| open.cursor(part as usize, *group);
        let Some(mut leading) = cursor(&group) else { continue };
        let mut others: Vec<GroupCursor<'_>> = rest.iter().filter_map(cursor).collect();
        let mut row = leading.row();
        while row != NO_ROW && work.step(1 + others.len()) {
            if !seen.has(row) {
                seen.insert(row);
                let (mut score, mut held) = (leading.score().score, 1);
                for other in &mut others {
                    if other.seek(row) == row {
                        score += other.score().score;
                        held += 1;
                    }
                }
                found(RowAddress { part, row }, score, held);
            }
            row = leading.advance();
        }
        work.read += others.iter().chain([&leading]).map(GroupCursor::decoded).sum::<u64>();
    }
}

/// Calls `found` with every product that holds some of the words: where, its score and how many it holds.
fn sums(
    release: &Release,
    open: &OpenGroups<'_>,
    divided: &Divided,
    work: &mut Work,
    mut found: impl FnMut(RowAddress, f32, usize),
) {
    let (driving, looked_up) = (&divided.driving, &divided.looked_up);
    // Taken out while they are used: were a search to break off, the next one would begin with none.
    let mut sums = SUMS.take();
    let mut touched = Vec::new();
    for (at, part) in (0..).zip(release.parts()) {
        let rows = part.rows() as usize;
        if sums.len() < rows {
            sums.resize(rows, Sum::default());
        }
        add_up(
            open,
            at,
            driving,
            sums.get_mut(..rows).unwrap_or_default(),
            &mut touched,
            work,
        );
        if !looked_up.is_empty() {
            look_up(open, at, looked_up, &mut sums, &mut touched, work);
        }
        for row in touched.drain(..) {
            if let Some(sum) = sums.get_mut(row as usize) {
                let sum = std::mem::take(sum);
                let at = RowAddress { part: at, row };
                found(at, sum.score, sum.held as usize);
            }
        }
    }
    SUMS.set(sums);
}

/// Adds up the words' scores in a part; `touched` tells which rows have any.
fn add_up(
    open: &OpenGroups<'_>,
    part: u32,
    groups: &[usize],
    sums: &mut [Sum],
    touched: &mut Vec<u32>,
    work: &mut Work,
) {
    for group in groups {
        let Some(cursor) = open.cursor(part as usize, *group) else {
            continue;
        };
        work.read += cursor.count();
        cursor.each_score(|row, score| {
            if let Some(sum) = sums.get_mut(row as usize) {
                if sum.held == 0 {
                    touched.push(row);
                }
                sum.held += 1;
                sum.score += score;
            }
        });
    }
}

/// Looks the words up that are too common to be read, for the best rows so far.
fn look_up(open: &OpenGroups<'_>, part: u32, groups: &[usize], sums: &mut [Sum], touched: &mut [u32], work: &mut Work) {
    let score = |row: &u32| sums.get(*row as usize).map_or(0.0, |sum| sum.score);
    let best = touched.len().min(work.looked_up_max);
    if best < touched.len() {
        touched.select_nth_unstable_by(best, |one, other| score(other).total_cmp(&score(one)));
    }
    let Some(best) = touched.get_mut(..best) else { return };
    best.sort_unstable();
    for group in groups {
        let Some(mut cursor) = open.cursor(part as usize, *group) else {
            continue;
        };
        for row in best.iter() {
            if cursor.seek(*row) == *row
                && let Some(sum) = sums.get_mut(*row as usize)
            {
                sum.held += 1;
                sum.score += cursor.score().score;
            }
        }
        work.read += cursor.decoded();
    }
}

/// The words that are read, rarest first, and those that are only looked up. A word that no product holds is neither.
struct Divided {
    driving: Vec<usize>,
    looked_up: Vec<usize>,
}

impl Divided {
    fn of(open: &OpenGroups<'_>, postings_max: u64) -> Self {
        let groups = (0..open.len()).map(|group| (open.postings(group), group));
        let mut groups: Vec<(u64, usize)> = groups.filter(|(postings, _)| *postings > 0).collect();
        groups.sort_unstable();
        let mut read = 0;
        let mut divided = Self {
            driving: Vec::with_capacity(groups.len()),
            looked_up: Vec::new(),
        };
        for (postings, group) in groups {
            read += postings;
            if divided.driving.is_empty() || read <= postings_max {
                divided.driving.push(group);
            } else {
                divided.looked_up.push(group);
            }
        }
        divided
    }
}
