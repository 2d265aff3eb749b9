use data_index::Release;

use super::index::TextIndex;
use super::lists::GroupLists;
use super::narrowing::{EligibleRows, Narrowing};
use super::rows::RowSet;

/// Live rows that match a search, marked while it runs.
pub(super) struct Marks<'a> {
    live: Vec<EligibleRows<'a>>,
    sets: Vec<RowSet>,
    /// Rows that lack exactly one word, used while no row has every word.
    lacking_one: Vec<RowSet>,
    is_empty: bool,
}

impl<'a> Marks<'a> {
    pub(super) fn none(release: &Release, index: &'a TextIndex, narrowing: Narrowing<'a>) -> Self {
        let parts = (0..).take(release.parts().len());
        let live = |part| EligibleRows::of(release, index, narrowing.everywhere(), part);
        Self {
            live: parts.map(live).collect(),
            sets: RowSet::none_of(release),
            lacking_one: Vec::new(),
            is_empty: true,
        }
    }

    /// Returns true if no row was marked for having every word or the code.
    pub(super) const fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Marks the live rows among some rows of a part.
    pub(super) fn mark(&mut self, part: u32, rows: impl Iterator<Item = u32>) {
        let live = self.live.get(part as usize);
        let (Some(live), Some(set)) = (live, self.sets.get_mut(part as usize)) else {
            return;
        };
        // In a part without dead rows, rows need no check.
        let has_all = live.has_all();
        for row in rows {
            if has_all || live.has(row) {
                set.insert(row);
                self.is_empty = false;
            }
        }
    }

    /// Marks every row of a part with a word.
    pub(super) fn mark_all(&mut self, part: u32, word: &GroupLists<'_>) {
        let live = self.live.get(part as usize);
        if let (Some(true), Some(set)) = (live.map(EligibleRows::has_all), self.sets.get_mut(part as usize)) {
            // In a part without dead rows, rows need no check.
            let held = word.rows(set.rows());
            self.is_empty &= held.is_empty();
            return set.join(&held);
        }
        word.each_rows(|rows| self.mark(part, rows.iter().copied()));
    }

    /// Marks a row that lacks one word or more. It must be called only while no row has all words.
    #[inline]
    pub(super) fn mark_some(&mut self, part: u32, row: u32, lacks_one: bool) {
        // Rows that lack more words do not count if any row lacks only one.
        let is_told = lacks_one || self.lacking_one.is_empty();
        let part = part as usize;
        if !is_told || !self.live.get(part).is_some_and(|live| live.has(row)) {
            return;
        }
        if lacks_one && self.lacking_one.is_empty() {
            self.lacking_one = self.sets.iter().map(RowSet::emptied).collect();
        }
        let sets = if lacks_one {
            &mut self.lacking_one
        } else {
            &mut self.sets
        };
        if let Some(set) = sets.get_mut(part) {
            set.insert(row);
        }
    }

    /// Returns the best matching rows of each part.
    pub(super) fn into_sets(self) -> Vec<RowSet> {
        if self.lacking_one.is_empty() {
            self.sets
        } else {
            self.lacking_one
        }
    }
}
