//! Rows that hold every word, found by marking the rows of each: where a word is in many products, that is cheaper than to
//! step through the lists together, and a row's place in a list follows from its mark.

use super::Work;
use super::cursor::{GroupCursor, PlainWord, WordScore};
use super::matches::RowSet;

/// From one row in so many that hold its rarest word on, a part's rows are marked word by word.
const MARKED_FROM_ONE_IN: u32 = 1_024;
/// Words that so many times more rows hold than hold the rarest are looked up for what is left.
const MARKED_TIMES_MAX: u64 = 8;
/// So many postings are marked in the time of one step.
const MARKED_PER_STEP: u64 = 8;
/// From one row in so many words of a set on, marks are counted to tell the rows' places.
const PLACED_FROM_ONE_IN: usize = 4;

/// The rows of a part that hold every word, ascending, with what each has of them; `groups` are the words, the rarest
/// first. `None` where it is cheaper to step through them together, or too much for what is left of `work`.
pub(super) fn every_word(
    groups: &mut [GroupCursor<'_>],
    rows: u32,
    work: &mut Work,
) -> Option<impl Iterator<Item = (u32, WordScore)>> {
    let rarest = groups.first()?.count();
    if rarest < u64::from(rows / MARKED_FROM_ONE_IN) {
        return None;
    }
    let most = MARKED_TIMES_MAX * rarest;
    let marked = groups.iter().take_while(|group| group.count() <= most).count();
    let postings: u64 = groups.iter().take(marked).map(GroupCursor::count).sum();
    let steps = usize::try_from(postings / MARKED_PER_STEP).unwrap_or(usize::MAX);
    if marked < 2 || steps >= work.steps_left / 2 {
        return None;
    }
    work.step(steps);
    work.read += postings;
    let sets: Vec<RowSet> = groups.iter().take(marked).map(|group| set(group, rows)).collect();
    let mut found = in_all(&sets);
    found.truncate(work.steps_left / groups.len());
    work.step(found.len().saturating_mul(groups.len()));
    let (first, others) = groups.split_at_mut(marked);
    for (group, set) in first.iter_mut().zip(&sets) {
        match group
            .plain()
            .filter(|_| set.words().len() < found.len() * PLACED_FROM_ONE_IN)
        {
            Some(word) => score(word, set, &mut found),
            None => keep(group, &mut found),
        }
    }
    others.iter_mut().for_each(|group| keep(group, &mut found));
    Some(found.into_iter())
}

/// The rows that hold a word.
fn set(group: &GroupCursor<'_>, rows: u32) -> RowSet {
    let mut held = RowSet::none(rows);
    group.each_row(|row| held.insert(row));
    held
}

/// The rows that are in every set.
fn in_all(sets: &[RowSet]) -> Vec<(u32, WordScore)> {
    let Some((first, others)) = sets.split_first() else {
        return Vec::new();
    };
    let mut all = first.clone();
    others.iter().for_each(|set| all.keep(set));
    all.iter().map(|row| (row, WordScore::OF_NONE)).collect()
}

/// Adds what each row has of a word, each by its place in the word's list: as many rows of `held` as lie before it.
fn score(word: PlainWord<'_>, held: &RowSet, found: &mut [(u32, WordScore)]) {
    let mut before = Vec::with_capacity(held.words().len());
    let mut count = 0;
    for bits in held.words() {
        before.push(count);
        count += bits.count_ones();
    }
    for (row, score) in found {
        let at = *row as usize / 64;
        let (Some(bits), Some(before)) = (held.words().get(at), before.get(at)) else {
            continue;
        };
        let lower = bits & ((1 << (*row % 64)) - 1);
        let place = before + lower.count_ones();
        *score = score.and(word.score(place as usize));
    }
}

/// Keeps the rows that have a word, and adds what they have of it.
fn keep(group: &mut GroupCursor<'_>, found: &mut Vec<(u32, WordScore)>) {
    found.retain_mut(|(row, score)| {
        let is_held = group.seek(*row) == *row;
        if is_held {
            *score = score.and(group.score());
        }
        is_held
    });
}
