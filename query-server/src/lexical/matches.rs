use data_index::{Release, RowAddress};

use super::cursor::GroupCursor;
use super::index::TextIndex;
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

    /// No row, for each part of a release.
    pub(crate) fn none_of(release: &Release) -> Vec<Self> {
        release.parts().iter().map(|part| Self::none(part.rows())).collect()
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

    pub(super) fn has(&self, row: u32) -> bool {
        let word = self.words.get(row as usize / 64);
        word.is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// Keeps what `other`, of the same part, has too.
    pub(super) fn keep(&mut self, other: &Self) {
        self.words
            .iter_mut()
            .zip(&other.words)
            .for_each(|(word, other)| *word &= other);
    }

    /// The rows, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        (0..).step_by(64).zip(&self.words).flat_map(|(start, word)| {
            let mut word = *word;
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros();
                (word != 0).then(|| {
                    word &= word - 1;
                    start + bit
                })
            })
        })
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
    pub(super) fn none(release: &Release, index: &'a TextIndex) -> Self {
        let parts = (0..).take(release.parts().len());
        Self {
            live: parts.map(|part| Passing::of(release, index, None, part)).collect(),
            sets: RowSet::none_of(release),
            lacking_one: Vec::new(),
            is_empty: true,
        }
    }

    /// Whether no row was marked for holding every word, or for its code.
    pub(super) const fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Marks a row, unless it is dead.
    #[inline]
    pub(super) fn mark(&mut self, at: RowAddress) {
        let part = at.part as usize;
        if let (Some(live), Some(set)) = (self.live.get(part), self.sets.get_mut(part))
            && live.has(at.row)
        {
            set.insert(at.row);
            self.is_empty = false;
        }
    }

    /// Marks every row of a part that has a word.
    pub(super) fn mark_all(&mut self, part: u32, word: &GroupCursor<'_>) {
        let live = self.live.get(part as usize);
        if let (Some(true), Some(set)) = (live.map(Passing::has_all), self.sets.get_mut(part as usize)) {
            // Nothing is dead: nothing is asked.
            let is_empty = &mut self.is_empty;
            return word.each_row(|row| {
                set.insert(row);
                *is_empty = false;
            });
        }
        word.each_row(|row| self.mark(RowAddress { part, row }));
    }

    /// Marks a row that lacks words, one alone or more; to be asked while there is none that has them all.
    #[inline]
    pub(super) fn mark_some(&mut self, at: RowAddress, lacks_one: bool) {
        // Beside what lacks one, what lacks more is not told.
        let is_told = lacks_one || self.lacking_one.is_empty();
        let part = at.part as usize;
        if !is_told || !self.live.get(part).is_some_and(|live| live.has(at.row)) {
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
            set.insert(at.row);
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
