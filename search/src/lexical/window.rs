//! Sums for some thousand rows at a time. A window fits in the fastest cache, unlike the rows of a whole part.

use super::cursor::WordScore;

const ROWS: usize = 4_096;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slot {
    pub(super) score: f32,
    /// Number of the row's words with [`Window::add`], or its greatest title level with [`Window::keep_best`].
    pub(super) held: u16,
    /// Sum of the shares of the row's words in the weight of the query. See [`Window::add`].
    pub(super) share: u16,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct RowSlot {
    pub(super) row: u32,
    pub(super) slot: Slot,
}

pub(super) struct Window {
    from: u32,
    slots: Vec<Slot>,
    /// Bit set of the rows with an entry.
    touched: [u64; ROWS / 64],
}

impl Window {
    /// The window begins at the first rows.
    pub(super) fn new() -> Self {
        Self {
            from: 0,
            slots: vec![Slot::default(); ROWS],
            touched: [0; ROWS / 64],
        }
    }

    /// Moves an empty window so that it contains a row, and returns the end of the window.
    pub(super) fn begin(&mut self, row: u32) -> u32 {
        let rows = u32::try_from(ROWS).unwrap_or(u32::MAX);
        self.from = row - row % rows;
        self.from.saturating_add(rows)
    }

    /// Marks the slot as used. The row must be in the window.
    #[inline]
    fn slot(&mut self, row: u32) -> &mut Slot {
        let at = row.wrapping_sub(self.from) as usize % ROWS;
        self.touched[at / 64] |= 1 << (at % 64);
        &mut self.slots[at]
    }

    /// Adds the score of a row's word. All words of a query have shares of at most `u16::MAX` together.
    #[inline]
    pub(super) fn add(&mut self, row: u32, score: f32, share: u16) {
        self.slot(row).add(score, share);
    }

    /// Keeps the best score of a row among the variants of a word. See [`Slot::word_score`].
    #[inline]
    pub(super) fn keep_best(&mut self, row: u32, found: WordScore) {
        let slot = self.slot(row);
        slot.held = slot.held.max(found.title_level);
        slot.score = slot.score.max(found.score);
    }

    /// Passes the sums to `tell` in row order, and empties the window.
    pub(super) fn drain(&mut self, mut tell: impl FnMut(u32, Slot)) {
        for (word, bits) in self.touched.iter_mut().enumerate() {
            let mut bits = std::mem::take(bits);
            while bits != 0 {
                let at = 64 * word + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                tell(self.from.wrapping_add(at as u32), std::mem::take(&mut self.slots[at]));
            }
        }
    }
}

impl Slot {
    #[inline]
    pub(super) fn add(&mut self, score: f32, share: u16) {
        self.held += 1;
        self.share += share;
        self.score += score;
    }

    /// Returns the score of [`Window::keep_best`].
    pub(super) fn word_score(self) -> WordScore {
        WordScore {
            score: self.score,
            title_level: self.held,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_window_tells_what_was_put_in_and_is_empty_then(
            first in 0_u32..50_000, added in prop::collection::vec((0_u32..4_096, 0_u8..9, 0_u16..8), 0..300),
        ) {
            let mut window = Window::new();
            let end = window.begin(first);
            let from = end - 4_096;
            prop_assert!((from..end).contains(&first));
            let (mut sums, mut bests) = (BTreeMap::new(), BTreeMap::new());
            for (at, score, _) in &added {
                window.add(from + at, f32::from(*score), u16::from(*score));
                let sum: &mut (f32, u16, u16) = sums.entry(from + at).or_default();
                *sum = (sum.0 + f32::from(*score), sum.1 + 1, sum.2 + u16::from(*score));
            }
            let mut told = Vec::new();
            window.drain(|row, slot| told.push((row, (slot.score, slot.held, slot.share))));
            prop_assert_eq!(told, sums.into_iter().collect::<Vec<_>>());
            for (at, score, title_level) in added {
                let found = WordScore { score: f32::from(score), title_level };
                window.keep_best(from + at, found);
                let best: &mut (f32, u16) = bests.entry(from + at).or_default();
                *best = (best.0.max(found.score), best.1.max(title_level));
            }
            let mut told = Vec::new();
            window.drain(|row, slot| told.push((row, (slot.word_score().score, slot.word_score().title_level))));
            prop_assert_eq!(told, bests.into_iter().collect::<Vec<_>>());
            window.drain(|row, _| panic!("{row} was told before"));
        }
    }
}
