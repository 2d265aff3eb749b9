use data_index::Release;

/// Rows of one part: a bit for each, in words of 64. A common word matches most of a part, and its rows are put in one
/// by one.
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

    /// The rows that bytes have a bit for, the first byte those of rows 0 to 7; rows that the part has not are left out.
    pub(super) fn of_bytes(bytes: &[u8], rows: u32) -> Self {
        let words = bytes.as_chunks().0.iter();
        let mut words: Vec<u64> = words.map(|bytes| u64::from_le_bytes(*bytes)).collect();
        if let Some(last) = words.last_mut().filter(|_| !rows.is_multiple_of(64)) {
            *last &= (1 << (rows % 64)) - 1;
        }
        Self { rows, words }
    }

    /// The number of the part's rows.
    pub(super) const fn rows(&self) -> u32 {
        self.rows
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

    /// Adds the rows of `other`, of the same part.
    pub(super) fn join(&mut self, other: &Self) {
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
    pub(super) fn emptied(&self) -> Self {
        Self::none(self.rows)
    }

    /// The words, that of rows 0 to 63 first.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }
}

/// The rows of each part that may be answered, whatever else decides.
#[derive(Debug, Clone)]
pub(crate) struct AllowedRows {
    parts: Vec<RowSet>,
}

impl AllowedRows {
    #[inline]
    pub(crate) fn has(&self, part: u32, row: u32) -> bool {
        self.parts.get(part as usize).is_some_and(|rows| rows.has(row))
    }

    /// These rows of each part.
    pub(crate) const fn of(parts: Vec<RowSet>) -> Self {
        Self { parts }
    }

    /// The rows of each part.
    pub(crate) fn parts(&self) -> &[RowSet] {
        &self.parts
    }

    pub(super) fn part(&self, part: u32) -> Option<&RowSet> {
        self.parts.get(part as usize)
    }
}
