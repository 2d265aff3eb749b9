use super::list::{BLOCK, TermList};
use super::{NO_ROW, PostingPayload};

/// Walks the rows of a list upwards.
#[derive(Debug)]
pub struct TermCursor<'a> {
    list: TermList<'a>,
    /// The rows of the block at hand; [`NO_ROW`] beyond its length.
    rows: [u32; BLOCK],
    length: usize,
    block: usize,
    at: usize,
    row: u32,
    /// The last row of the block at hand.
    end: u32,
    decoded: u32,
}

impl<'a> TermList<'a> {
    /// A cursor at the first of the list's rows.
    #[must_use]
    pub fn cursor(self) -> TermCursor<'a> {
        TermCursor::first(self)
    }
}

impl<'a> TermCursor<'a> {
    fn first(list: TermList<'a>) -> Self {
        let mut cursor = Self {
            list,
            rows: [NO_ROW; BLOCK],
            length: 0,
            block: 0,
            at: 0,
            row: NO_ROW,
            end: 0,
            decoded: 0,
        };
        cursor.load(0);
        cursor
    }

    /// The row at hand; [`NO_ROW`] after the last.
    #[must_use]
    pub const fn row(&self) -> u32 {
        self.row
    }

    /// The number of postings that were decoded so far.
    #[must_use]
    pub const fn decoded(&self) -> u32 {
        self.decoded
    }

    /// The payload of the posting at hand.
    #[must_use]
    #[inline]
    pub fn holding(&self) -> PostingPayload {
        self.list.holding(self.block * BLOCK + self.at)
    }

    /// Moves to the next row and answers it.
    #[inline]
    pub fn advance(&mut self) -> u32 {
        self.at += 1;
        if self.at < self.length {
            self.row = self.rows[self.at];
        } else {
            self.load(self.block + 1);
        }
        self.row
    }

    /// Tells the rows from that at hand to before `end`, each with how it holds the term, and moves past them; answers how
    /// many they were.
    #[inline]
    pub fn each_until(&mut self, end: u32, mut tell: impl FnMut(u32, PostingPayload)) -> usize {
        let mut told = 0;
        while self.row < end {
            let rest = self.rows.get(self.at..self.length).unwrap_or_default();
            let count = if self.end < end {
                rest.len()
            } else {
                // One at least, whatever order damaged rows are in.
                rest.partition_point(|row| *row < end).max(1)
            };
            let rows = rest.get(..count).unwrap_or_default();
            let postings = self.list.postings(rows, self.block * BLOCK + self.at);
            postings.iter().for_each(|(row, held)| tell(row, held));
            told += count;
            self.at += count;
            if self.at < self.length {
                self.row = self.rows[self.at];
            } else {
                self.load(self.block + 1);
            }
        }
        told
    }

    /// Moves to the first row from `target` on, never back, and answers it.
    #[inline]
    pub fn seek(&mut self, target: u32) -> u32 {
        if self.row >= target {
            return self.row;
        }
        if target > self.end {
            self.load(self.block_of(target));
        }
        let rest = self.rows.get(self.at..self.length).unwrap_or_default();
        self.at += first_from(rest, target);
        if self.at < self.length {
            self.row = self.rows[self.at];
        } else {
            // Only when the table and the rows disagree, or after the last row.
            self.load(self.block + 1);
        }
        self.row
    }

    /// The first block from the next one on that may hold `target`.
    fn block_of(&self, target: u32) -> usize {
        let (mut low, mut step) = (self.block + 1, 1);
        while low + step < self.list.block_count() && self.list.end(low + step) < target {
            low += step;
            step *= 2;
        }
        let mut high = (low + step).min(self.list.block_count());
        while low < high {
            let middle = low.midpoint(high);
            if self.list.end(middle) < target {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    fn load(&mut self, block: usize) {
        (self.block, self.at, self.length) = (block, 0, 0);
        if block < self.list.block_count() {
            self.length = self.list.decode(block, &mut self.rows);
            self.decoded = self.decoded.saturating_add(u32::try_from(self.length).unwrap_or(0));
        }
        if self.length == 0 {
            (self.row, self.end) = (NO_ROW, NO_ROW);
        } else {
            (self.row, self.end) = (self.rows[0], self.rows[self.length - 1]);
        }
    }
}

/// Rows that are compared at once.
const WINDOW: usize = 16;

/// The place of the first row from `target` on, looked for where it mostly is: near the beginning. There all rows are
/// compared, without a branch that nobody could predict.
#[inline]
fn first_from(rows: &[u32], target: u32) -> usize {
    let Some((window, rest)) = rows.split_first_chunk::<WINDOW>() else {
        return rows.partition_point(|row| *row < target);
    };
    let before = window.iter().map(|row| u32::from(*row < target)).sum::<u32>() as usize;
    if before < WINDOW {
        before
    } else {
        WINDOW + rest.partition_point(|row| *row < target)
    }
}
