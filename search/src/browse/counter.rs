//! Counters of facet values over sets of rows.

use std::cell::RefCell;

use data_index::columns::Cards;

use super::bits::{ones, positions};
use super::coverage::FacetCoverage;
use super::packed::PackedValues;
use super::rows::PartRows;
use super::values::Values;

/// Number of rows that are prefetched before they are counted.
const ROWS_AT_ONCE: usize = 64;

/// Reads some rows before they are counted, so that the processor fetches them in parallel.
fn look(packed: &PackedValues, rows: &[u32]) {
    let look = |row: &u32| packed.row(*row).map_or(0, |row| row.kind);
    std::hint::black_box(rows.iter().fold(0, |sum, row| sum ^ look(row)));
}

/// Reads the full value lists of some rows before they are counted.
fn look_in_full(cards: &Cards, rows: &[u32]) {
    let look = |row: &u32| match cards.facet_codes(*row) {
        [first, .., last] => first ^ last,
        _ => 0,
    };
    std::hint::black_box(rows.iter().fold(0, |sum, row| sum ^ look(row)));
}

fn count_up(counts: &mut [u32], at: u32, by: u32) {
    if let Some(count) = counts.get_mut(at as usize) {
        *count += by;
    }
}

/// Counts the values of some rows by the part's own symbols, and the rows of each kind. All of `symbols` and `kinds`
/// must be zero before. `kinds` is zero again afterwards.
fn tally(packed: &PackedValues, rows: &[u32], symbols: &mut [u32], kinds: &mut [u32], tell: impl FnOnce(&[u32])) {
    for rows in rows.chunks(ROWS_AT_ONCE) {
        look(packed, rows);
        for row in rows.iter().filter_map(|row| packed.row(*row)) {
            count_up(kinds, row.kind, 1);
            row.symbols.iter().for_each(|symbol| count_up(symbols, *symbol, 1));
            packed
                .further(row)
                .iter()
                .for_each(|symbol| count_up(symbols, *symbol, 1));
        }
    }
    tell(kinds);
    for (kind, count) in packed.kinds().iter().zip(kinds).filter(|(_, count)| **count > 0) {
        let count = std::mem::take(count);
        kind.codes.iter().for_each(|code| count_up(symbols, *code, count));
    }
    let (codes, sets) = symbols.split_at_mut(packed.codes_len());
    for (set, count) in packed.sets().iter().zip(&mut *sets).filter(|(_, count)| **count > 0) {
        let count = std::mem::take(count);
        set.iter().for_each(|code| count_up(codes, *code, count));
    }
    sets.fill(0);
}

/// If the number of rows is at least one in this many of a part's values, all counts of the part are scanned.
const DENSE_FROM_ONE_IN: usize = 8;

/// Facet value with its number of rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct IdCount {
    pub(super) id: u32,
    pub(super) count: u32,
}

/// Counts by value id. Each thread reuses a counter, so that the cost depends on the counted values and not on the
/// number of all values.
#[derive(Debug, Default)]
pub(super) struct Counter {
    counts: Vec<u32>,
    /// Bitmap of the ids whose counts may be nonzero. Scanning it gives the ids in ascending order.
    touched: Vec<u64>,
    /// Counts by the symbols of a part. They are zero between parts.
    of_part: Vec<u32>,
    /// Counts by the kinds of a part. They are zero between parts.
    of_kinds: Vec<u32>,
}

thread_local! {
    static COUNTER: RefCell<Counter> = RefCell::default();
}

impl Counter {
    /// Passes the thread's counter to `count`, with space for `ids` values and all counts zero.
    pub(super) fn with<T>(ids: u32, count: impl FnOnce(&mut Self) -> T) -> T {
        COUNTER.with_borrow_mut(|counter| {
            counter.clear();
            if counter.counts.len() < ids as usize {
                counter.counts.resize(ids as usize, 0);
                counter.touched.resize(counter.counts.len().div_ceil(64), 0);
            }
            count(counter)
        })
    }

    fn clear(&mut self) {
        for (at, word) in self.touched.iter_mut().enumerate() {
            for bit in ones(std::mem::take(word)) {
                if let Some(count) = self.counts.get_mut(at * 64 + bit as usize) {
                    *count = 0;
                }
            }
        }
    }

    fn touch(&mut self, id: u32) {
        if let Some(word) = self.touched.get_mut(id as usize / 64) {
            *word |= 1 << (id % 64);
        }
    }

    pub(super) fn get(&self, id: u32) -> u32 {
        self.counts.get(id as usize).copied().unwrap_or(0)
    }

    fn set(&mut self, id: u32, value: u32) {
        if let Some(count) = self.counts.get_mut(id as usize) {
            *count = value;
            self.touch(id);
        }
    }

    pub(super) fn set_all(&mut self, counts: &[IdCount]) {
        counts.iter().for_each(|counted| self.set(counted.id, counted.count));
    }

    /// Returns the values with nonzero counts, by id.
    pub(super) fn taken(&self) -> Vec<IdCount> {
        let touched = positions(0, &self.touched).into_iter();
        let counted = touched.map(|id| IdCount {
            id,
            count: self.get(id),
        });
        counted.filter(|counted| counted.count > 0).collect()
    }

    /// Counts every value of every row, and with `covered` the rows of each facet.
    pub(super) fn add(&mut self, values: &Values, of: &[PartRows<'_>], mut covered: Option<&mut FacetCoverage<'_>>) {
        for PartRows { at, rows, .. } in of {
            let Some(packed) = values.packed(*at) else { continue };
            let ids = values.ids(*at);
            if rows.len() < packed.symbols_len() / DENSE_FROM_ONE_IN {
                for rows in rows.chunks(ROWS_AT_ONCE) {
                    look(packed, rows);
                    rows.iter().for_each(|row| self.count_row(packed, ids, *row));
                }
                if let Some(covered) = &mut covered {
                    covered.add_rows(*at, packed, rows);
                }
                continue;
            }
            // With many rows, counting by the part's own symbols is faster, because these are few and their counts need
            // no prefetching.
            for (counts, len) in [
                (&mut self.of_part, packed.symbols_len()),
                (&mut self.of_kinds, packed.kinds().len()),
            ] {
                if counts.len() < len {
                    counts.resize(len, 0);
                }
            }
            let counts = self.of_part.get_mut(..packed.symbols_len()).unwrap_or_default();
            let kinds = self.of_kinds.get_mut(..packed.kinds().len()).unwrap_or_default();
            tally(packed, rows, counts, kinds, |kinds| {
                if let Some(covered) = &mut covered {
                    covered.add_kinds(*at, packed, kinds);
                }
            });
            for (id, of_part) in ids.iter().zip(counts).filter(|(_, count)| **count > 0) {
                if let Some(count) = self.counts.get_mut(*id as usize) {
                    *count += std::mem::take(of_part);
                    if let Some(word) = self.touched.get_mut(*id as usize / 64) {
                        *word |= 1 << (id % 64);
                    }
                }
            }
        }
    }

    fn count_row(&mut self, packed: &PackedValues, ids: &[u32], row: u32) {
        let Some(row) = packed.row(row) else { return };
        let kind = packed.kinds().get(row.kind as usize);
        kind.iter()
            .flat_map(|kind| &kind.codes)
            .for_each(|code| self.count_up(ids, *code));
        for symbol in row.symbols.iter().chain(packed.further(row)) {
            packed.codes(symbol).iter().for_each(|code| self.count_up(ids, *code));
        }
    }

    fn count_up(&mut self, ids: &[u32], code: u32) {
        let Some(id) = ids.get(code as usize) else { return };
        if let Some(count) = self.counts.get_mut(*id as usize) {
            *count += 1;
            self.touch(*id);
        }
    }

    /// Reverses [`Counter::add`] for these rows.
    pub(super) fn subtract(&mut self, values: &Values, of: &[PartRows<'_>]) {
        for PartRows { at, part, rows } in of {
            let (cards, ids) = (part.cards(), values.ids(*at));
            for rows in rows.chunks(ROWS_AT_ONCE) {
                look_in_full(cards, rows);
                for code in rows.iter().flat_map(|row| cards.facet_codes(*row)) {
                    let count = ids.get(*code as usize).and_then(|id| self.counts.get_mut(*id as usize));
                    if let Some(count) = count {
                        *count = count.saturating_sub(1);
                    }
                }
            }
        }
    }

    /// Counts the values of one facet over all rows.
    pub(super) fn add_facet(&mut self, values: &Values, name: &str, of: &[PartRows<'_>]) {
        for PartRows { at, part, rows } in of {
            let (cards, ids, codes) = (part.cards(), values.ids(*at), part.facets().codes(name));
            for rows in rows.chunks(ROWS_AT_ONCE) {
                look_in_full(cards, rows);
                for of_row in rows.iter().map(|row| cards.facet_codes(*row)) {
                    let from = of_row.partition_point(|code| *code < codes.start);
                    for code in of_row.iter().skip(from).take_while(|code| **code < codes.end) {
                        self.count_up(ids, *code);
                    }
                }
            }
        }
    }
}
