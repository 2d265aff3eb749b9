use data_index::Release;

use super::demands::Allowed;
use super::index::TextIndex;
use super::lists::GroupLists;
use super::strict::Passing;

/// Rows of one part: a bit for each, in words of 64. What a common word matches is most of a part, and is put in one by one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowSet {
    rows: u32,
    words: Vec<u64>,
}

impl RowSet {
    /// No row of a part with so many.
    pub(crate) fn none(rows: u32) -> Self {
        Self {
            rows,
            words: vec![0; (rows as usize).div_ceil(64)],
        }
    }

    /// Every row of a part with so many.
    pub(super) fn all(rows: u32) -> Self {
        Self::none(rows).not()
    }

    /// No row, for each part of a release.
    pub(crate) fn none_of(release: &Release) -> Vec<Self> {
        release.parts().iter().map(|part| Self::none(part.rows())).collect()
    }

    /// The rows of a part that have a word.
    pub(super) fn of(word: &GroupLists<'_>, rows: u32) -> Self {
        // Byte by byte: one after the other into the same word, each would wait for the one before.
        let mut bytes = vec![0_u8; 8 * (rows as usize).div_ceil(64)];
        word.each_rows(|some| {
            for row in some {
                if let Some(byte) = bytes.get_mut(*row as usize / 8) {
                    *byte |= 1 << (row % 8);
                }
            }
        });
        let mut words: Vec<u64> = bytes
            .as_chunks()
            .0
            .iter()
            .map(|bytes| u64::from_le_bytes(*bytes))
            .collect();
        if let Some(last) = words.last_mut().filter(|_| !rows.is_multiple_of(64)) {
            *last &= (1 << (rows % 64)) - 1;
        }
        Self { rows, words }
    }

    /// Adds a row; one that the part has not is left out.
    #[inline]
    pub(crate) fn insert(&mut self, row: u32) {
        if row < self.rows
            && let Some(word) = self.words.get_mut(row as usize / 64)
        {
            *word |= 1 << (row % 64);
        }
    }

    #[inline]
    pub(super) fn has(&self, row: u32) -> bool {
        let word = self.words.get(row as usize / 64);
        word.is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// The rows that `other`, of the same part, has too.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.words
            .iter_mut()
            .zip(other.words)
            .for_each(|(word, other)| *word &= other);
        self
    }

    /// And the rows that `other`, of the same part, has.
    pub(super) fn or(mut self, other: Self) -> Self {
        self.join(&other);
        self
    }

    /// The other rows of the part.
    pub(crate) fn not(mut self) -> Self {
        self.words.iter_mut().for_each(|word| *word = !*word);
        if let Some(last) = self.words.last_mut().filter(|_| !self.rows.is_multiple_of(64)) {
            *last &= (1 << (self.rows % 64)) - 1;
        }
        self
    }

    /// Adds what `other`, of the same part, has.
    fn join(&mut self, other: &Self) {
        self.words
            .iter_mut()
            .zip(&other.words)
            .for_each(|(word, other)| *word |= other);
    }

    /// The rows that are in each of some sets of a part, ascending.
    pub(super) fn in_all(sets: &[Self], mut tell: impl FnMut(u32)) {
        let Some((first, others)) = sets.split_first() else {
            return;
        };
        for (at, (start, word)) in (0_u32..).step_by(64).zip(&first.words).enumerate() {
            let held = |other: &Self| other.words.get(at).copied().unwrap_or(0);
            let mut word = others.iter().fold(*word, |word, other| word & held(other));
            while word != 0 {
                tell(start + word.trailing_zeros());
                word &= word - 1;
            }
        }
    }

    /// No row, of the same part.
    fn emptied(&self) -> Self {
        Self::none(self.rows)
    }

    /// The words, that of rows 0 to 63 first.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }
}

/// The live rows that a search is about, marked while it goes through them.
pub(super) struct Marks<'a> {
    live: Vec<Passing<'a>>,
    sets: Vec<RowSet>,
    /// Those that lack one word alone, while no row has every word.
    lacking_one: Vec<RowSet>,
    is_empty: bool,
}

impl<'a> Marks<'a> {
    pub(super) fn none(release: &Release, index: &'a TextIndex, allowed: Option<&'a Allowed>) -> Self {
        let parts = (0..).take(release.parts().len());
        let live = |part| Passing::of(release, index, (None, allowed), part);
        Self {
            live: parts.map(live).collect(),
            sets: RowSet::none_of(release),
            lacking_one: Vec::new(),
            is_empty: true,
        }
    }

    /// Whether no row was marked for holding every word, or for its code.
    pub(super) const fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Marks rows of a part, but for dead ones.
    pub(super) fn mark(&mut self, part: u32, rows: impl Iterator<Item = u32>) {
        let live = self.live.get(part as usize);
        let (Some(live), Some(set)) = (live, self.sets.get_mut(part as usize)) else {
            return;
        };
        // Where nothing is dead nothing is asked.
        let has_all = live.has_all();
        for row in rows {
            if has_all || live.has(row) {
                set.insert(row);
                self.is_empty = false;
            }
        }
    }

    /// Marks every row of a part that has a word.
    pub(super) fn mark_all(&mut self, part: u32, word: &GroupLists<'_>) {
        let live = self.live.get(part as usize);
        if let (Some(true), Some(set)) = (live.map(Passing::has_all), self.sets.get_mut(part as usize)) {
            // Nothing is dead: nothing is asked.
            let held = RowSet::of(word, set.rows);
            self.is_empty &= held.is_empty();
            return set.join(&held);
        }
        word.each_rows(|rows| self.mark(part, rows.iter().copied()));
    }

    /// Marks a row that lacks words, one alone or more; to be asked while there is none that has them all.
    #[inline]
    pub(super) fn mark_some(&mut self, part: u32, row: u32, lacks_one: bool) {
        // Beside what lacks one, what lacks more is not told.
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

    /// Of each part, what fits best of what was marked.
    pub(super) fn into_sets(self) -> Vec<RowSet> {
        if self.lacking_one.is_empty() {
            self.sets
        } else {
            self.lacking_one
        }
    }
}
