use super::list::{BLOCK, TermList};
use super::{NO_ROW, PostingPayload};

/// Iterates over the rows of a posting list in ascending order.
#[derive(Debug)]
pub struct TermCursor<'a> {
    list: TermList<'a>,
    /// Rows of the current block, with [`NO_ROW`] beyond its length.
    rows: [u32; BLOCK],
    length: usize,
    block: usize,
    at: usize,
    row: u32,
    end: u32,
    decoded: u32,
}

impl<'a> TermList<'a> {
    /// Returns a cursor at the first row of the list.
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

    /// Returns the current row, or [`NO_ROW`] after the last.
    #[must_use]
    pub const fn row(&self) -> u32 {
        self.row
    }

    /// Returns the number of postings decoded so far.
    #[must_use]
    pub const fn decoded(&self) -> u32 {
        self.decoded
    }

    /// Returns the payload of the current posting.
    #[must_use]
    #[inline]
    pub fn holding(&self) -> PostingPayload {
        self.list.holding(self.block * BLOCK + self.at)
    }

    /// Moves to the next row and returns it.
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

    /// Passes the rows from the current one to before `end`, each with its payload, to `tell`. Moves the cursor past
    /// them, and returns their number.
    #[inline]
    pub fn each_until(&mut self, end: u32, mut tell: impl FnMut(u32, PostingPayload)) -> usize {
        let mut told = 0;
        while self.row < end {
            let rest = self.rows.get(self.at..self.length).unwrap_or_default();
            let count = if self.end < end {
                rest.len()
            } else {
                // At least one row is consumed, even if the rows of a damaged file are out of order.
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

    /// Moves forward to the first row that is at least `target` and returns it.
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
            // The table and the rows disagree, or there are no more rows.
            self.load(self.block + 1);
        }
        self.row
    }

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

const WINDOW: usize = 16;

/// Returns the index of the first row that is at least `target`, which is usually near the start. The first rows are
/// compared without a branch, because the branch would be unpredictable.
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
