//! Finds rows with every word by marking the rows of each word in a bitmap. If a word is in many products, this is
//! faster than intersecting cursors, and the bitmap gives a row's index in a posting list.

use super::cursor::{RowScore, WordScore};
use super::lists::{GroupLists, PlainWord};
use super::rows::RowSet;
use super::window::Window;
use super::work::Work;

/// Bitmaps are used if at least one in this many rows has the rarest word.
const MARKED_FROM_ONE_IN: u32 = 1_024;
/// Words with more than this many times the rows of the rarest word are only looked up for the remaining rows.
const MARKED_TIMES_MAX: u64 = 8;
/// Number of postings that can be marked in the time of one step.
const MARKED_PER_STEP: u64 = 8;
/// If found rows are in at least one in this many words of the bitmap, the rows' list indexes come from counting bits.
const PLACED_FROM_ONE_IN: usize = 4;
/// Number of postings that can be read in the time of looking up one row in several lists.
const TALLIED_PER_FOUND: u64 = 16;

/// Returns the ascending rows of a part with every word, each with its score. `groups` are the words, rarest first.
/// `None` if intersecting cursors is cheaper, or if the remaining `work` is not enough.
pub(super) fn every_word(groups: &[GroupLists<'_>], rows: u32, work: &mut Work) -> Option<Vec<RowScore>> {
    let rarest = groups.first()?.count();
    if rarest < u64::from(rows / MARKED_FROM_ONE_IN) {
        return None;
    }
    let most = MARKED_TIMES_MAX * rarest;
    let marked = groups.iter().take_while(|group| group.count() <= most).count();
    let postings: u64 = groups.iter().take(marked).map(GroupLists::count).sum();
    let steps = usize::try_from(postings / MARKED_PER_STEP).unwrap_or(usize::MAX);
    if marked < 2 || steps >= work.steps_left / 2 {
        return None;
    }
    work.step(steps);
    work.read += postings;
    let sets: Vec<RowSet> = groups.iter().take(marked).map(|group| group.rows(rows)).collect();
    let mut found = Vec::new();
    RowSet::in_all(&sets, |row| {
        found.push(RowScore {
            row,
            found: WordScore::OF_NONE,
        });
    });
    found.truncate(work.steps_left / groups.len());
    work.step(found.len().saturating_mul(groups.len()));
    let (first, others) = groups.split_at(marked);
    for (group, set) in first.iter().zip(&sets) {
        match group
            .plain()
            .filter(|_| set.words().len() < found.len() * PLACED_FROM_ONE_IN)
        {
            Some(word) => score(word, set, &mut found),
            None if group.plain().is_none() && group.count() < found.len() as u64 * TALLIED_PER_FOUND => {
                best_ways(group, rows, &mut found, work);
            }
            None => keep(group, &mut found, work),
        }
    }
    others.iter().for_each(|group| keep(group, &mut found, work));
    Some(found)
}

/// Adds the score of each row for a word. The index of a row in the word's list is the number of earlier rows in
/// `held`.
fn score(word: PlainWord<'_>, held: &RowSet, found: &mut [RowScore]) {
    let mut before = Vec::with_capacity(held.words().len());
    let mut count = 0;
    for bits in held.words() {
        before.push(count);
        count += bits.count_ones();
    }
    for RowScore { row, found } in found {
        let at = *row as usize / 64;
        let (Some(bits), Some(before)) = (held.words().get(at), before.get(at)) else {
            continue;
        };
        let lower = bits & ((1 << (*row % 64)) - 1);
        let place = before + lower.count_ones();
        *found = found.and(word.score(place as usize));
    }
}

/// Adds the score of each row for a word with several variants. All rows in `found` must have the word.
fn best_ways(group: &GroupLists<'_>, rows: u32, found: &mut [RowScore], work: &mut Work) {
    let (mut variants, mut best) = (group.variants(), Window::new());
    let mut found = found.iter_mut().peekable();
    while let Some(next) = found.peek().map(|next| next.row).filter(|_| variants.row() < rows) {
        let end = best.begin(variants.row());
        let read = variants.each_until(end, &mut best, |row, held| {
            if let Some(next) = found.next_if(|next| next.row == row) {
                next.found = next.found.and(held);
            }
        });
        work.read += read as u64;
        debug_assert!(
            found.peek().is_none_or(|next| next.row >= end),
            "row {next} of this block still has the word"
        );
    }
}

/// Removes rows that lack a word, and adds the scores of the others for the word.
fn keep(group: &GroupLists<'_>, found: &mut Vec<RowScore>, work: &mut Work) {
    let Some(mut cursor) = group.cursor() else {
        return found.clear();
    };
    found.retain_mut(|RowScore { row, found }| {
        let is_held = cursor.seek(*row) == *row;
        if is_held {
            *found = found.and(cursor.score());
        }
        is_held
    });
    work.read += cursor.decoded();
}
