use std::cell::RefCell;

use data_index::{Release, RowAddress};

use super::groups::OpenGroups;
use super::index::{TextIndex, as_float};
use super::matches::Marks;
use super::strict::Passing;
use super::top::TopHits;
use super::{QUALITY_BONUS, Wanted, Work, quality_bonus, tier};

/// A product's score so far, and which words it holds: one bit each.
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
    // Two rare words of four tell more than one that is rarer still.
    let words = as_float(open.len() as u64);
    let shares: Vec<f32> = (0..=open.len())
        .map(|held| (as_float(held as u64) / words).sqrt())
        .collect();
    sums(release, open, work, |part, row, score, held| {
        if let Some(marks) = &mut marks {
            marks.mark_some(RowAddress { part, row }, held + 1 == open.len());
        }
        let tier = match open.len() - held {
            // Those that hold all words were collected before.
            0 => return,
            1 => tier::ALL_BUT_ONE,
            _ => tier::ANY,
        };
        let score = score * shares.get(held).copied().unwrap_or(1.0);
        if !top.beats(tier, score + QUALITY_BONUS) && Passing::of(release, index, wanted.filter, part).has(row) {
            top.push(
                tier,
                score + quality_bonus(release, part, row),
                RowAddress { part, row },
            );
        }
    });
}

/// Calls `found` with every product that holds some of the words: part, row, score and how many it holds.
fn sums(release: &Release, open: &OpenGroups<'_>, work: &mut Work, mut found: impl FnMut(u32, u32, f32, usize)) {
    let (driving, looked_up) = divided(open, work.postings_max);
    SUMS.with_borrow_mut(|sums| {
        let mut touched = Vec::new();
        for (at, part) in (0..).zip(release.parts()) {
            let rows = part.rows() as usize;
            if sums.len() < rows {
                sums.resize(rows, Sum::default());
            }
            add_up(
                open,
                at,
                &driving,
                sums.get_mut(..rows).unwrap_or_default(),
                &mut touched,
                work,
            );
            if !looked_up.is_empty() {
                look_up(open, at, (&looked_up, driving.len()), sums, &mut touched, work);
            }
            for row in touched.drain(..) {
                if let Some(sum) = sums.get_mut(row as usize) {
                    let sum = std::mem::take(sum);
                    found(at, row, sum.score, sum.held.count_ones() as usize);
                }
            }
        }
    });
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
    for (bit, group) in groups.iter().enumerate() {
        let Some(cursor) = open.cursor(part as usize, *group) else {
            continue;
        };
        work.read += cursor.count();
        cursor.each_score(|row, score| {
            if let Some(sum) = sums.get_mut(row as usize) {
                if sum.held == 0 {
                    touched.push(row);
                }
                sum.held |= 1 << bit;
                sum.score += score;
            }
        });
    }
}

/// Looks the words up that are too common to be read, for the best rows so far.
fn look_up(
    open: &OpenGroups<'_>,
    part: u32,
    (groups, bits_used): (&[usize], usize),
    sums: &mut [Sum],
    touched: &mut [u32],
    work: &mut Work,
) {
    let score = |row: &u32| sums.get(*row as usize).map_or(0.0, |sum| sum.score);
    let best = touched.len().min(work.looked_up_max);
    if best < touched.len() {
        touched.select_nth_unstable_by(best, |one, other| score(other).total_cmp(&score(one)));
    }
    let Some(best) = touched.get_mut(..best) else { return };
    best.sort_unstable();
    for (bit, group) in (bits_used..).zip(groups) {
        let Some(mut cursor) = open.cursor(part as usize, *group) else {
            continue;
        };
        for row in best.iter() {
            if cursor.seek(*row) == *row
                && let Some(sum) = sums.get_mut(*row as usize)
            {
                sum.held |= 1 << bit;
                sum.score += cursor.score().score;
            }
        }
        work.read += cursor.decoded();
    }
}

/// The words that are read, rarest first, and those that are only looked up.
fn divided(open: &OpenGroups<'_>, postings_max: u64) -> (Vec<usize>, Vec<usize>) {
    let mut groups: Vec<(u64, usize)> = (0..open.len()).map(|group| (open.postings(group), group)).collect();
    groups.sort_unstable();
    let mut read = 0;
    let (mut driving, mut looked_up) = (Vec::with_capacity(groups.len()), Vec::new());
    for (postings, group) in groups {
        read += postings;
        if driving.is_empty() || read <= postings_max {
            driving.push(group);
        } else {
            looked_up.push(group);
        }
    }
    (driving, looked_up)
}
