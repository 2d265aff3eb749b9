//! Counts of facet values over sets of rows.

use std::cell::RefCell;

use data_index::Release;
use data_index::columns::Cards;

use super::bits::{Bits, ones};
use super::rows::Rows;
use super::values::Values;

fn row_of(word: usize, bit: u32) -> u32 {
    u32::try_from(word * 64).unwrap_or(u32::MAX).saturating_add(bit)
}

/// Tells each row of a part whose bit is set in words from `first` on.
pub(super) fn each_row(first: usize, words: &[u64], mut tell: impl FnMut(u32)) {
    for (at, word) in (first..).zip(words) {
        ones(*word).for_each(|bit| tell(row_of(at, bit)));
    }
}

/// Tells each row as [`each_row`] does, some at a time.
fn each_rows(first: usize, words: &[u64], mut tell: impl FnMut(&[u32])) {
    let (mut rows, mut length) = ([0_u32; 64], 0);
    each_row(first, words, |row| {
        rows[length] = row;
        length += 1;
        if length == rows.len() {
            tell(&rows);
            length = 0;
        }
    });
    tell(rows.get(..length).unwrap_or_default());
}

/// Counts the values of some rows by the part's own numbers.
fn tally(cards: &Cards, rows: &[u32], counts: &mut [u32]) {
    // They are looked at before they are counted, so that the processor fetches them all at once.
    let look = |row: &u32| match cards.facet_codes(*row) {
        [first, .., last] => first ^ last,
        _ => 0,
    };
    std::hint::black_box(rows.iter().fold(0, |sum, row| sum ^ look(row)));
    for row in rows {
        for code in cards.facet_codes(*row) {
            if let Some(count) = counts.get_mut(*code as usize) {
                *count += 1;
            }
        }
    }
}

/// From one row in so many values of a part on, all of its counts are gone through.
const DENSE_FROM_ONE_IN: usize = 8;

/// Counts by value id. It is kept by its thread, so that a count costs what it counts, not what there is to count.
#[derive(Debug, Default)]
pub(super) struct Counter {
    counts: Vec<u32>,
    /// The ids whose counts may not be zero.
    touched: Vec<u32>,
    /// Counts by a part's own numbers, all zero between parts.
    of_part: Vec<u32>,
}

thread_local! {
    static COUNTER: RefCell<Counter> = RefCell::default();
}

impl Counter {
    /// Lends the thread's counter, with room for `ids` and all of its counts zero.
    pub(super) fn with<T>(ids: u32, count: impl FnOnce(&mut Self) -> T) -> T {
        COUNTER.with_borrow_mut(|counter| {
            counter.clear();
            if counter.counts.len() < ids as usize {
                counter.counts.resize(ids as usize, 0);
            }
            count(counter)
        })
    }

    fn clear(&mut self) {
        for id in self.touched.drain(..) {
            if let Some(count) = self.counts.get_mut(id as usize) {
                *count = 0;
            }
        }
    }

    pub(super) fn get(&self, id: u32) -> u32 {
        self.counts.get(id as usize).copied().unwrap_or(0)
    }

    pub(super) fn set(&mut self, id: u32, value: u32) {
        if let Some(count) = self.counts.get_mut(id as usize) {
            *count = value;
            self.touched.push(id);
        }
    }

    /// What was counted at least once, by id.
    pub(super) fn taken(&mut self) -> Vec<(u32, u32)> {
        // Ids of one part come in order; those of several in as many runs, which a stable sort merges.
        self.touched.sort();
        let counted = self.touched.iter().map(|id| (*id, self.get(*id)));
        counted.filter(|(_, count)| *count > 0).collect()
    }

    /// Counts every value of every row.
    pub(super) fn add(&mut self, release: &Release, rows: &Rows, values: &Values, of: &Bits) {
        for segment in rows.segments(release, &of.window()) {
            let (cards, ids) = (segment.part.cards(), values.ids(segment.at));
            let words = of.words.get(segment.words).unwrap_or_default();
            let count: usize = words.iter().map(|word| word.count_ones() as usize).sum();
            if count < ids.len() / DENSE_FROM_ONE_IN {
                each_row(segment.first, words, |row| {
                    cards.facet_codes(row).iter().for_each(|code| self.count_up(ids, *code));
                });
                continue;
            }
            // Many rows: counted by the part's own numbers, which are few and need no look at what is counted first.
            if self.of_part.len() < ids.len() {
                self.of_part.resize(ids.len(), 0);
            }
            let counts = self.of_part.get_mut(..ids.len()).unwrap_or_default();
            each_rows(segment.first, words, |rows| {
                tally(cards, rows, counts);
            });
            for (id, of_part) in ids.iter().zip(counts).filter(|(_, count)| **count > 0) {
                if let Some(count) = self.counts.get_mut(*id as usize) {
                    if *count == 0 {
                        self.touched.push(*id);
                    }
                    *count += std::mem::take(of_part);
                }
            }
        }
    }

    fn count_up(&mut self, ids: &[u32], code: u32) {
        let Some(id) = ids.get(code as usize) else { return };
        if let Some(count) = self.counts.get_mut(*id as usize) {
            if *count == 0 {
                self.touched.push(*id);
            }
            *count += 1;
        }
    }

    /// Takes back what [`Counter::add`] counted for these rows.
    pub(super) fn subtract(&mut self, release: &Release, rows: &Rows, values: &Values, of: &Bits) {
        for segment in rows.segments(release, &of.window()) {
            let (cards, ids) = (segment.part.cards(), values.ids(segment.at));
            let words = of.words.get(segment.words).unwrap_or_default();
            for (at, word) in (segment.first..).zip(words) {
                for bit in ones(*word) {
                    for code in cards.facet_codes(row_of(at, bit)) {
                        let count = ids.get(*code as usize).and_then(|id| self.counts.get_mut(*id as usize));
                        if let Some(count) = count {
                            *count = count.saturating_sub(1);
                        }
                    }
                }
            }
        }
    }

    /// Counts the values of one facet of every row.
    pub(super) fn add_facet(&mut self, release: &Release, rows: &Rows, values: &Values, (name, of): (&str, &Bits)) {
        for segment in rows.segments(release, &of.window()) {
            let (cards, ids) = (segment.part.cards(), values.ids(segment.at));
            let codes = segment.part.facets().codes(name);
            let words = of.words.get(segment.words).unwrap_or_default();
            for (at, word) in (segment.first..).zip(words) {
                for bit in ones(*word) {
                    let of_row = cards.facet_codes(row_of(at, bit));
                    let from = of_row.partition_point(|code| *code < codes.start);
                    for code in of_row.iter().skip(from).take_while(|code| **code < codes.end) {
                        self.count_up(ids, *code);
                    }
                }
            }
        }
    }
}
