use data_index::Release;

/// Set of rows of one part as a bitmap. It suits common words, which most rows have and whose rows are inserted
/// individually.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowSet {
    rows: u32,
    words: Vec<u64>,
}

impl RowSet {
    /// `rows` is the number of rows of the part.
    pub(crate) fn none(rows: u32) -> Self {
        Self {
            rows,
            words: vec![0; (rows as usize).div_ceil(64)],
        }
    }

    /// `rows` is the number of rows of the part.
    pub(super) fn all(rows: u32) -> Self {
        Self::none(rows).not()
    }

    /// The first byte of the bitmap has rows 0 to 7. Rows that the part does not have are dropped.
    pub(super) fn of_bytes(bytes: &[u8], rows: u32) -> Self {
        let words = bytes.as_chunks().0.iter();
        let mut words: Vec<u64> = words.map(|bytes| u64::from_le_bytes(*bytes)).collect();
        if let Some(last) = words.last_mut().filter(|_| !rows.is_multiple_of(64)) {
            *last &= (1 << (rows % 64)) - 1;
        }
        Self { rows, words }
    }

    /// Returns the number of rows of the part.
    pub(super) const fn rows(&self) -> u32 {
        self.rows
    }

    /// Returns an empty set for each part of a release.
    pub(crate) fn none_of(release: &Release) -> Vec<Self> {
        release.parts().iter().map(|part| Self::none(part.rows())).collect()
    }

    /// Adds a row. A row that the part does not have is ignored.
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

    /// `other` must be a set of the same part.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.words
            .iter_mut()
            .zip(other.words)
            .for_each(|(word, other)| *word &= other);
        self
    }

    /// `other` must be a set of the same part.
    pub(super) fn or(mut self, other: Self) -> Self {
        self.join(&other);
        self
    }

    pub(crate) fn not(mut self) -> Self {
        self.words.iter_mut().for_each(|word| *word = !*word);
        if let Some(last) = self.words.last_mut().filter(|_| !self.rows.is_multiple_of(64)) {
            *last &= (1 << (self.rows % 64)) - 1;
        }
        self
    }

    /// `other` must be a set of the same part.
    pub(super) fn join(&mut self, other: &Self) {
        self.words
            .iter_mut()
            .zip(&other.words)
            .for_each(|(word, other)| *word |= other);
    }

    /// Passes the rows that all sets of a part have to `tell`, ascending.
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

    pub(super) fn emptied(&self) -> Self {
        Self::none(self.rows)
    }

    /// The first word of the bitmap has rows 0 to 63.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }
}

/// Rows of each part that a search may return, regardless of other conditions.
#[derive(Debug, Clone)]
pub(crate) struct AllowedRows {
    parts: Vec<RowSet>,
}

impl AllowedRows {
    #[inline]
    pub(crate) fn has(&self, part: u32, row: u32) -> bool {
        self.parts.get(part as usize).is_some_and(|rows| rows.has(row))
    }

    pub(crate) const fn of(parts: Vec<RowSet>) -> Self {
        Self { parts }
    }

    pub(crate) fn parts(&self) -> &[RowSet] {
        &self.parts
    }

    /// Returns the rows of each part.
    pub(crate) fn into_parts(self) -> Vec<RowSet> {
        self.parts
    }

    pub(super) fn part(&self, part: u32) -> Option<&RowSet> {
        self.parts.get(part as usize)
    }
}
