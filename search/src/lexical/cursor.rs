use data_index::terms::{NO_ROW, PostingPayload, TermCursor, TermList, Terms};

use super::group::TermVariant;
use super::score::Worth;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WordScore {
    pub(super) score: f32,
    /// Level of the word in the title, 0 if the title does not have it.
    pub(super) title_level: u16,
}

impl WordScore {
    /// [`WordScore::and`] starts from this neutral score.
    pub(super) const OF_NONE: Self = Self {
        score: 0.0,
        title_level: u16::MAX,
    };

    /// `held` is the word's payload.
    #[inline]
    pub(super) fn of(held: PostingPayload, score: f32) -> Self {
        Self {
            score,
            title_level: held.title_level(),
        }
    }

    /// Returns the sum of the scores, and the lower title level.
    #[inline]
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            score: self.score + other.score,
            title_level: self.title_level.min(other.title_level),
        }
    }
}

/// Row with its score for its words.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowScore {
    pub(super) row: u32,
    pub(super) found: WordScore,
}

/// Cursor over the products of one part with a variant of a word.
#[derive(Debug)]
pub(super) struct VariantCursor<'a> {
    first: TermCursor<'a>,
    form: u8,
    weight: f32,
    /// Cursors of the further words, if the variant has several.
    rest: Vec<TermCursor<'a>>,
    variant: &'a TermVariant,
    terms: &'a Terms,
    row: u32,
}

impl<'a> VariantCursor<'a> {
    pub(super) fn open(
        lists: &[TermList<'a>],
        variant: &'a TermVariant,
        weight: f32,
        terms: &'a Terms,
    ) -> Option<Self> {
        let (first, rest) = lists.split_first()?;
        let first = first.cursor();
        let mut cursor = Self {
            row: first.row(),
            first,
            form: variant.words.first()?.form,
            weight,
            rest: rest.iter().map(|list| list.cursor()).collect(),
            variant,
            terms,
        };
        if !cursor.rest.is_empty() {
            cursor.meet(0);
        }
        Some(cursor)
    }

    pub(super) const fn row(&self) -> u32 {
        self.row
    }

    #[inline]
    fn seek(&mut self, target: u32) -> u32 {
        if self.row < target {
            if self.rest.is_empty() {
                self.row = self.first.seek(target);
            } else {
                self.meet(target);
            }
        }
        self.row
    }

    #[inline]
    pub(super) fn advance(&mut self) {
        if self.rest.is_empty() {
            self.row = self.first.advance();
        } else {
            self.meet(self.row.saturating_add(1));
        }
    }

    /// Passes each product before `end` with its score for the word to `tell`. Moves the cursor past these products and
    /// returns their number.
    pub(super) fn each_until(&mut self, end: u32, worth: Worth, mut tell: impl FnMut(u32, WordScore)) -> usize {
        if self.rest.is_empty() {
            let (form, weight) = (self.form, self.weight);
            let told = self.first.each_until(end, |row, held| {
                tell(row, WordScore::of(held, worth.of(held, form) * weight));
            });
            self.row = self.first.row();
            return told;
        }
        let mut told = 0;
        while self.row < end {
            tell(self.row, self.score(worth));
            told += 1;
            self.advance();
        }
        told
    }

    /// Moves to the first product from `target` on with all words of the variant. The words must be adjacent in the
    /// title unless `is_apart` is set.
    fn meet(&mut self, mut target: u32) {
        'rows: loop {
            let row = self.first.seek(target);
            self.row = row;
            if row == NO_ROW {
                return;
            }
            for other in &mut self.rest {
                let next = other.seek(row);
                if next != row {
                    target = next;
                    continue 'rows;
                }
            }
            if self.variant.is_apart || self.is_phrase(row) {
                return;
            }
            target = row + 1;
        }
    }

    fn is_phrase(&self, row: u32) -> bool {
        let title = self.terms.title_words(row);
        let mut title = title.iter();
        loop {
            let rest = title.clone();
            let words = &self.variant.words;
            if words.iter().map(|word| word.hash).eq(rest.take(words.len())) {
                return true;
            }
            if title.next().is_none() {
                return false;
            }
        }
    }

    #[inline]
    pub(super) fn score(&self, worth: Worth) -> WordScore {
        let held = self.first.holding();
        let mut least = WordScore::of(held, worth.of(held, self.form));
        for (other, word) in self.rest.iter().zip(self.variant.words.iter().skip(1)) {
            let held = other.holding();
            least.score = least.score.min(worth.of(held, word.form));
            least.title_level = least.title_level.min(held.title_level());
        }
        least.score *= self.weight;
        least
    }
}

/// Cursor over the products of a part with any variant of a query word.
#[derive(Debug)]
pub(super) struct GroupCursor<'a> {
    first: VariantCursor<'a>,
    others: Vec<VariantCursor<'a>>,
    row: u32,
    worth: Worth,
}

impl<'a> GroupCursor<'a> {
    pub(super) fn of(mut cursors: impl Iterator<Item = VariantCursor<'a>>, worth: Worth) -> Option<Self> {
        let first = cursors.next()?;
        let others: Vec<_> = cursors.collect();
        let all = || std::iter::once(&first).chain(&others);
        let row = all().map(|cursor| cursor.row).min().unwrap_or(NO_ROW);
        Some(Self {
            first,
            others,
            row,
            worth,
        })
    }

    #[inline]
    pub(super) const fn row(&self) -> u32 {
        self.row
    }

    /// Moves to the first product from `target` on and returns it.
    #[inline]
    pub(super) fn seek(&mut self, target: u32) -> u32 {
        if self.row < target {
            self.row = self.first.seek(target);
            for other in &mut self.others {
                self.row = self.row.min(other.seek(target));
            }
        }
        self.row
    }

    /// Moves to the next product and returns it.
    #[inline]
    pub(super) fn advance(&mut self) -> u32 {
        if self.others.is_empty() {
            self.first.advance();
            self.row = self.first.row;
            return self.row;
        }
        self.seek(self.row.saturating_add(1))
    }

    /// Returns the current product's score for its best variant of the word.
    #[inline]
    pub(super) fn score(&self) -> WordScore {
        if self.others.is_empty() {
            return self.first.score(self.worth);
        }
        let mut best = WordScore::default();
        for cursor in std::iter::once(&self.first).chain(&self.others) {
            if cursor.row == self.row {
                let found = cursor.score(self.worth);
                best.score = best.score.max(found.score);
                best.title_level = best.title_level.max(found.title_level);
            }
        }
        best
    }

    /// Returns the number of postings decoded so far.
    pub(super) fn decoded(&self) -> u64 {
        let all = std::iter::once(&self.first).chain(&self.others);
        all.flat_map(|cursor| std::iter::once(&cursor.first).chain(&cursor.rest))
            .map(|cursor| u64::from(cursor.decoded()))
            .sum()
    }
}
