use std::ops::Range;

use arrow::buffer::BooleanBuffer;

use super::{Cards, Facets};

/// Number of rows in a bitmap word. Word 0 begins at a row that is a multiple of 64.
///
/// Operations on whole parts combine the bitmap words of several lists with AND and OR, without a branch.
const ROWS_PER_WORD: usize = 64;
/// Number of words of one container of a posting list.
const CONTAINER_WORDS: usize = 1_024;

/// First four bytes of a serialised posting list, without and with run containers.
const COOKIE_PLAIN: u32 = 12_346;
const COOKIE_RUNS: u32 = 12_347;
/// Minimum number of containers for which a list with runs has an offset table.
const OFFSETS_FROM: usize = 4;

impl Facets {
    /// Sets the bits of the rows that have the value with this code, including dead rows. `words` begins at row
    /// `first_word * 64`. The list is read in place.
    pub fn or_rows(&self, code: u32, first_word: usize, words: &mut [u64]) {
        or_serialised(self.serialised_rows(code), first_word, words);
    }
}

/// Sets the bits of a posting list in the portable Roaring bitmap format. The file was verified when it was fetched. An
/// unreadable list ends early.
fn or_serialised(list: &[u8], first_word: usize, words: &mut [u64]) {
    let _ended_early = try_or(list, first_word, words);
}

fn try_or(list: &[u8], first_word: usize, words: &mut [u64]) -> Option<()> {
    let (cookie, mut rest) = u32_of(list)?;
    let (containers, runs);
    if cookie & 0xffff == COOKIE_RUNS {
        containers = (cookie >> 16) as usize + 1;
        (runs, rest) = rest.split_at_checked(containers.div_ceil(8))?;
    } else if cookie == COOKIE_PLAIN {
        let (count, after) = u32_of(rest)?;
        containers = count as usize;
        (runs, rest) = (&[][..], after);
    } else {
        return None;
    }
    let (heads, mut rest) = rest.split_at_checked(containers.checked_mul(4)?)?;
    if runs.is_empty() || containers >= OFFSETS_FROM {
        rest = rest.get(containers * 4..)?;
    }
    for (at, head) in heads.as_chunks::<4>().0.iter().enumerate() {
        let key = usize::from(u16::from_le_bytes([head[0], head[1]]));
        let rows = usize::from(u16::from_le_bytes([head[2], head[3]])) + 1;
        let is_run = runs.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1);
        let bytes = if is_run {
            let (count, after) = rest.split_first_chunk::<2>()?;
            rest = after;
            usize::from(u16::from_le_bytes(*count)) * 4
        } else if rows > 4096 {
            CONTAINER_WORDS * 8
        } else {
            rows * 2
        };
        let body;
        (body, rest) = rest.split_at_checked(bytes)?;
        // Position of the container's first word relative to `words`, which is negative if the container begins before
        // `words`.
        let start = (key * CONTAINER_WORDS).cast_signed() - first_word.cast_signed();
        if start >= words.len().cast_signed() {
            return Some(());
        }
        if start + CONTAINER_WORDS.cast_signed() <= 0 {
            continue;
        }
        match (is_run, rows > 4096) {
            (true, _) => or_runs(body, start, words),
            (false, true) => or_bits(body, start, words),
            (false, false) => or_list(body, start, words),
        }
    }
    Some(())
}

fn u32_of(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*head), rest))
}

fn or_bits(body: &[u8], start: isize, words: &mut [u64]) {
    let (skip, at) = (
        usize::try_from(-start).unwrap_or(0),
        usize::try_from(start).unwrap_or(0),
    );
    let from = body.as_chunks::<8>().0.iter().skip(skip);
    for (word, bits) in words.iter_mut().skip(at).zip(from) {
        *word |= u64::from_le_bytes(*bits);
    }
}

fn or_list(body: &[u8], start: isize, words: &mut [u64]) {
    for row in body.as_chunks::<2>().0 {
        let row = usize::from(u16::from_le_bytes(*row));
        let word = start + (row / ROWS_PER_WORD).cast_signed();
        if let Some(word) = usize::try_from(word).ok().and_then(|at| words.get_mut(at)) {
            *word |= 1 << (row % ROWS_PER_WORD);
        }
    }
}

fn or_runs(body: &[u8], start: isize, words: &mut [u64]) {
    for run in body.as_chunks::<4>().0 {
        let part = |at: usize| usize::from(u16::from_le_bytes([run[at], run[at + 1]])).cast_signed();
        let (first, length) = (part(0), part(2));
        let first = start * ROWS_PER_WORD.cast_signed() + first;
        let rows = usize::try_from(first).unwrap_or(0)..usize::try_from(first + length + 1).unwrap_or(0);
        set_range(rows, words);
    }
}

/// Rows after the last word are ignored.
fn set_range(rows: Range<usize>, words: &mut [u64]) {
    let rows = rows.start..rows.end.min(words.len() * ROWS_PER_WORD);
    if rows.is_empty() {
        return;
    }
    let last = rows.end - 1;
    let (head, tail) = (
        u64::MAX << (rows.start % ROWS_PER_WORD),
        u64::MAX >> (63 - last % ROWS_PER_WORD),
    );
    match words.get_mut(rows.start / ROWS_PER_WORD..=last / ROWS_PER_WORD) {
        Some([only]) => *only |= head & tail,
        Some([first, middle @ .., last]) => {
            *first |= head;
            middle.fill(u64::MAX);
            *last |= tail;
        }
        _ => {}
    }
}

impl Cards {
    /// Clears the bits of rows without an available variant. `words` begins at row `first_word * 64`.
    pub fn and_in_stock(&self, first_word: usize, words: &mut [u64]) {
        and_bits(self.columns.in_stock.values(), first_word, words);
    }

    /// Clears the bits of rows that are not marked down. `words` begins at row `first_word * 64`.
    pub fn and_on_sale(&self, first_word: usize, words: &mut [u64]) {
        and_bits(self.columns.on_sale.values(), first_word, words);
    }

    /// Returns the lowest price of every row, in minor units.
    #[must_use]
    pub fn prices_min(&self) -> &[i64] {
        self.columns.price_min_minor.values()
    }
}

fn and_bits(column: &BooleanBuffer, first_word: usize, words: &mut [u64]) {
    let bytes = column.sliced();
    let bytes = bytes.get(first_word * 8..).unwrap_or_default();
    let (whole, rest) = bytes.as_chunks::<8>();
    let mut tail = [0; 8];
    tail.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let bits = whole.iter().map(|bits| u64::from_le_bytes(*bits));
    let bits = bits.chain([u64::from_le_bytes(tail)]).chain(std::iter::repeat(0));
    words.iter_mut().zip(bits).for_each(|(word, bits)| *word &= bits);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use roaring::RoaringBitmap;

    fn any_rows() -> impl Strategy<Value = RoaringBitmap> {
        let run = (0_u32..400_000, 1_u32..9_000);
        let list = prop::collection::vec(0_u32..400_000, 0..200);
        let dense = prop::collection::vec((0_u32..6, 1_u32..9), 0..3);
        (prop::collection::vec(run, 0..4), list, dense, any::<bool>()).prop_map(|(runs, list, dense, optimised)| {
            let mut rows: RoaringBitmap = list.into_iter().collect();
            for (start, length) in runs {
                rows.insert_range(start..start + length);
            }
            for (container, step) in dense {
                rows.extend((container * 65_536..(container + 1) * 65_536).step_by(step as usize));
            }
            if optimised {
                rows.optimize();
            }
            rows
        })
    }

    proptest! {
        #[test]
        fn a_serialised_list_sets_its_rows_within_the_window(rows in any_rows(), first in 0_usize..7_000, count in 0_usize..7_000) {
            let mut list = Vec::new();
            rows.serialize_into(&mut list).unwrap();
            let mut words = vec![0; count];
            or_serialised(&list, first, &mut words);
            let mut expected = vec![0_u64; count];
            for row in rows {
                let at = row as usize / 64;
                if (first..first + count).contains(&at) {
                    expected[at - first] |= 1 << (row % 64);
                }
            }
            prop_assert_eq!(words, expected);
        }

        #[test]
        fn a_damaged_list_ends_early(mut list in prop::collection::vec(any::<u8>(), 0..64), plain in any::<bool>()) {
            or_serialised(&list, 3, &mut [0; 9]);
            let cookie = if plain { COOKIE_PLAIN } else { COOKIE_RUNS };
            list.splice(0..0, cookie.to_le_bytes());
            or_serialised(&list, 3, &mut [0; 9]);
        }
    }
}
