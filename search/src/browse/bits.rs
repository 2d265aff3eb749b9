use std::ops::Range;

pub(super) const ROWS_PER_WORD: usize = 64;

/// Set of rows as a bitmap over a window of consecutive words. Rows outside of the window are not in the set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bits {
    /// First word of the window.
    pub(super) first: usize,
    pub(super) words: Vec<u64>,
}

impl Bits {
    pub(super) fn empty(window: Range<usize>) -> Self {
        Self {
            first: window.start,
            words: vec![0; window.len()],
        }
    }

    pub(super) fn window(&self) -> Range<usize> {
        self.first..self.first + self.words.len()
    }

    pub(super) fn contains(&self, row: u32) -> bool {
        let row = row as usize;
        let word = (row / ROWS_PER_WORD)
            .checked_sub(self.first)
            .and_then(|at| self.words.get(at));
        word.is_some_and(|word| word >> (row % ROWS_PER_WORD) & 1 == 1)
    }

    pub(super) fn insert(&mut self, row: u32) {
        let row = row as usize;
        let word = (row / ROWS_PER_WORD).checked_sub(self.first);
        if let Some(word) = word.and_then(|at| self.words.get_mut(at)) {
            *word |= 1 << (row % ROWS_PER_WORD);
        }
    }

    pub(super) fn remove(&mut self, row: u32) {
        let row = row as usize;
        let word = (row / ROWS_PER_WORD).checked_sub(self.first);
        if let Some(word) = word.and_then(|at| self.words.get_mut(at)) {
            *word &= !(1 << (row % ROWS_PER_WORD));
        }
    }

    pub(super) fn insert_range(&mut self, rows: Range<u32>) {
        let Some(end) = rows.end.checked_sub(1).filter(|end| *end >= rows.start) else {
            return;
        };
        let (first, last) = (rows.start as usize / ROWS_PER_WORD, end as usize / ROWS_PER_WORD);
        let window = self.window();
        for at in first.max(window.start)..(last + 1).min(window.end) {
            let from = if at == first { rows.start % 64 } else { 0 };
            let to = if at == last { end % 64 } else { 63 };
            if let Some(word) = self.words.get_mut(at - window.start) {
                *word |= u64::MAX << from & u64::MAX >> (63 - to);
            }
        }
    }

    pub(super) fn insert_all<'a>(&mut self, ranges: impl Iterator<Item = &'a Range<u32>>) {
        ranges.for_each(|range| self.insert_range(range.clone()));
    }

    /// Counts the given rows in the set.
    pub(super) fn count_in(&self, rows: &Range<u32>) -> u32 {
        let (first, last) = (rows.start as usize / ROWS_PER_WORD, rows.end as usize / ROWS_PER_WORD);
        let word = |at: usize| {
            at.checked_sub(self.first)
                .and_then(|at| self.words.get(at))
                .copied()
                .unwrap_or(0)
        };
        let below = |row: u32| (1_u64 << (row % 64)) - 1;
        if first == last {
            return (word(first) & below(rows.end) & !below(rows.start)).count_ones();
        }
        let (from, to) = ((first + 1).max(self.first), last.max(self.first));
        let between = self
            .words
            .get(from - self.first..(to - self.first).min(self.words.len()));
        let between: u32 = between.map_or(0, |words| words.iter().map(|word| word.count_ones()).sum());
        between + (word(first) & !below(rows.start)).count_ones() + (word(last) & below(rows.end)).count_ones()
    }

    pub(super) fn len(&self) -> u64 {
        u64::from(count(&self.words))
    }

    /// Returns the words of this window from `whole`, a set over all rows.
    pub(super) fn part_of<'a>(&self, whole: &'a [u64]) -> &'a [u64] {
        whole.get(self.window()).unwrap_or_default()
    }

    /// `other` must cover the same window.
    pub(super) fn and(&mut self, other: &[u64]) {
        self.words.iter_mut().zip(other).for_each(|(word, bits)| *word &= bits);
    }

    /// Returns the rows of `other` that are not in this set. `other` must cover the same window.
    pub(super) fn lacking(&self, other: &[u64]) -> Self {
        let words = self.words.iter().zip(other).map(|(word, bits)| !word & bits);
        Self {
            first: self.first,
            words: words.collect(),
        }
    }

    /// Returns the rows in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        (self.first..).zip(&self.words).flat_map(|(at, word)| {
            let start = first_of(at);
            ones(*word).map(move |bit| start + bit)
        })
    }
}

fn first_of(word: usize) -> u32 {
    u32::try_from(word * ROWS_PER_WORD).unwrap_or(u32::MAX)
}

/// Number of words that are skipped together if all their bits are zero, because most sets are small.
const WORDS_AT_ONCE: usize = 8;

/// Returns the runs of words that may have set bits, each with the index of its first word. `first` is the index of the
/// first element of `words`.
fn stretches(first: usize, words: &[u64]) -> impl Iterator<Item = (usize, &[u64])> {
    let stretches = (first..).step_by(WORDS_AT_ONCE).zip(words.chunks(WORDS_AT_ONCE));
    stretches.filter(|(_, words)| words.iter().fold(0, |any, word| any | word) != 0)
}

fn count(words: &[u64]) -> u32 {
    let stretches = stretches(0, words);
    stretches
        .flat_map(|(_, words)| words)
        .map(|word| word.count_ones())
        .sum()
}

/// Number of set bits that are listed before checking for more. Few words have more, so that the branch is predictable.
const ONES_AT_ONCE: usize = 4;

/// Returns the ascending indexes of the set bits. `first` is the index of the first element of `words`.
pub(super) fn positions(first: usize, words: &[u64]) -> Vec<u32> {
    let count = count(words) as usize;
    // With the spare capacity, the last word can write more entries than it has set bits.
    let mut positions = vec![0; count + ROWS_PER_WORD];
    let mut told = 0;
    for (first, words) in stretches(first, words) {
        for (at, word) in (first..).zip(words) {
            let (start, mut word) = (first_of(at), *word);
            let ones = word.count_ones() as usize;
            let room = positions.get_mut(told..).unwrap_or_default();
            let (room, _) = room.as_chunks_mut::<ONES_AT_ONCE>();
            for room in room {
                for position in room {
                    *position = start.wrapping_add(word.trailing_zeros());
                    word &= word.wrapping_sub(1);
                }
                if word == 0 {
                    break;
                }
            }
            told += ones;
        }
    }
    positions.truncate(count);
    positions
}

/// Returns the ascending indexes of the set bits of a word.
pub(super) fn ones(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        (word != 0).then(|| {
            word &= word - 1;
            bit
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bits_hold_what_was_put_into_their_window(
            first in 0_usize..4, words in 0_usize..30, rows in prop::collection::btree_set(0_u32..700, 0..60), range in (0_u32..700, 0_u32..300)
        ) {
            let mut bits = Bits::empty(first..first + words);
            rows.iter().for_each(|row| bits.insert(*row));
            bits.insert_range(range.0..range.0 + range.1);
            let inside = |row: &u32| (first * 64..(first + words) * 64).contains(&(*row as usize));
            let held = |row: &u32| rows.contains(row) || (range.0..range.0 + range.1).contains(row);
            let expected: Vec<u32> = (0..1_100).filter(|row| inside(row) && held(row)).collect();
            prop_assert_eq!(bits.iter().collect::<Vec<_>>(), expected.clone());
            prop_assert_eq!(positions(bits.first, &bits.words), expected.clone());
            prop_assert_eq!(bits.len(), expected.len() as u64);
            prop_assert!((0..1_100).all(|row| bits.contains(row) == expected.contains(&row)));
            let inside = expected.iter().filter(|row| (range.0..range.0 + range.1).contains(*row));
            prop_assert_eq!(bits.count_in(&(range.0..range.0 + range.1)) as usize, inside.count());
        }
    }
}
