//! Posting lists of a query word in one part, read as a whole. If most of a list is needed, this is much faster than a
//! cursor.

use data_index::terms::{Block, BlockRows, NO_ROW, PostingPayload, Postings, TermList, Terms};

use super::cursor::{GroupCursor, RowScore, VariantCursor, WordScore};
use super::group::TermVariant;
use super::rows::RowSet;
use super::score::Worth;
use super::window::Window;

/// Variant of a query word, with one or several words.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueryVariant<'a> {
    pub(super) lists: &'a [TermList<'a>],
    pub(super) variant: &'a TermVariant,
    pub(super) weight: f32,
    pub(super) terms: &'a Terms,
}

impl<'a> QueryVariant<'a> {
    /// Returns `None` for a variant with several words.
    fn plain(&self) -> Option<PlainWord<'a>> {
        let ([list], [word]) = (self.lists, self.variant.words.as_slice()) else {
            return None;
        };
        Some(PlainWord {
            list: *list,
            form: word.form,
            weight: self.weight,
            worth: Worth::table(),
        })
    }

    /// The cursor is at the variant's first product.
    pub(super) fn cursor(&self) -> Option<VariantCursor<'a>> {
        VariantCursor::open(self.lists, self.variant, self.weight, self.terms)
    }
}

/// Variant with a single word.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlainWord<'a> {
    list: TermList<'a>,
    form: u8,
    weight: f32,
    worth: Worth,
}

impl<'a> PlainWord<'a> {
    /// Returns the score for the posting at an index of the list.
    #[inline]
    pub(super) fn score(&self, place: usize) -> WordScore {
        self.score_of(self.list.holding(place))
    }

    /// Returns the blocks of postings in row order.
    pub(super) fn blocks(&self) -> impl Iterator<Item = Block<'a>> + use<'a> {
        self.list.blocks()
    }

    /// Returns an upper bound on the scores and title levels of a block's products.
    pub(super) fn bound(&self, block: &Block<'_>) -> WordScore {
        let most = block.most();
        WordScore::of(most, self.worth.bound(most) * self.weight)
    }

    #[inline]
    pub(super) fn scores(&self, postings: Postings<'_>) -> impl Iterator<Item = RowScore> {
        postings.iter().map(|(row, held)| RowScore {
            row,
            found: self.score_of(held),
        })
    }

    #[inline]
    fn score_of(&self, held: PostingPayload) -> WordScore {
        WordScore::of(held, self.worth.of(held, self.form) * self.weight)
    }
}

/// Variants of a query word in one part.
#[derive(Debug)]
pub(super) struct GroupLists<'a>(Vec<QueryVariant<'a>>);

impl<'a> GroupLists<'a> {
    /// Returns `None` if no product of the part has the word.
    pub(super) fn of(variants: impl Iterator<Item = QueryVariant<'a>>) -> Option<Self> {
        let variants: Vec<_> = variants.collect();
        (!variants.is_empty()).then_some(Self(variants))
    }

    /// Returns an upper bound on the number of products with the word.
    pub(super) fn count(&self) -> u64 {
        let first = self.0.iter().filter_map(|variant| variant.lists.first());
        first.map(|list| u64::from(list.count())).sum()
    }

    /// Returns the only variant, if it is a single word.
    pub(super) fn plain(&self) -> Option<PlainWord<'a>> {
        match self.0.as_slice() {
            [variant] => variant.plain(),
            _ => None,
        }
    }

    /// Passes the products with the word to `tell` in batches, variant by variant. A product may occur more than once.
    pub(super) fn each_rows(&self, mut tell: impl FnMut(&[u32])) {
        let mut room: BlockRows = Block::ROOM;
        for variant in &self.0 {
            if let Some(word) = variant.plain() {
                word.blocks().for_each(|block| tell(block.read(&mut room).rows()));
            } else if let Some(mut cursor) = variant.cursor() {
                while cursor.row() != NO_ROW {
                    tell(&[cursor.row()]);
                    cursor.advance();
                }
            }
        }
    }

    /// `rows` is the number of rows of the part.
    pub(super) fn rows(&self, rows: u32) -> RowSet {
        // Bytes are written, because consecutive writes to the same 64-bit word would wait for each other.
        let mut bytes = vec![0_u8; 8 * (rows as usize).div_ceil(64)];
        self.each_rows(|some| {
            for row in some {
                if let Some(byte) = bytes.get_mut(*row as usize / 8) {
                    *byte |= 1 << (row % 8);
                }
            }
        });
        RowSet::of_bytes(&bytes, rows)
    }

    /// Returns a cursor over all variants, at the first product.
    pub(super) fn variants(&self) -> QueryVariants<'a> {
        QueryVariants {
            cursors: self.0.iter().filter_map(QueryVariant::cursor).collect(),
            worth: Worth::table(),
        }
    }

    /// Returns a cursor over the products with the word.
    pub(super) fn cursor(&self) -> Option<GroupCursor<'a>> {
        GroupCursor::of(self.0.iter().filter_map(QueryVariant::cursor), Worth::table())
    }
}

/// Variants of a query word in one part, read in parallel from one product on.
#[derive(Debug)]
pub(super) struct QueryVariants<'a> {
    cursors: Vec<VariantCursor<'a>>,
    worth: Worth,
}

impl QueryVariants<'_> {
    /// Returns the smallest row of the variants, or [`NO_ROW`] after the last.
    pub(super) fn row(&self) -> u32 {
        self.cursors.iter().map(VariantCursor::row).min().unwrap_or(NO_ROW)
    }

    /// Passes each product before `end` to `tell` once, with its best score for the word. Moves past these products and
    /// returns the number of postings read. `end` is the end of the window with the current product, and `best` is an
    /// empty window for temporary use.
    pub(super) fn each_until(&mut self, end: u32, best: &mut Window, mut tell: impl FnMut(u32, WordScore)) -> usize {
        if let [cursor] = self.cursors.as_mut_slice() {
            return cursor.each_until(end, self.worth, tell);
        }
        best.begin(end.saturating_sub(1));
        let mut read = 0;
        for cursor in &mut self.cursors {
            read += cursor.each_until(end, self.worth, |row, found| best.keep_best(row, found));
        }
        best.drain(|row, slot| tell(row, slot.word_score()));
        read
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::group::{GroupWord, TermGroup};
    use super::super::groups::OpenGroups;
    use super::super::index::TextIndex;
    use super::super::synonyms::Synonyms;
    use super::super::term::QueryTerm;
    use super::super::tests::release;
    use super::*;

    /// The variants are `mug`, `cup`, and adjacent `tea` and `bowl`.
    fn said_in_three_ways() -> TermGroup {
        let word = |word: &str| GroupWord::of(&QueryTerm::of_word(word, 0));
        let variant = |words: &[&str], factor| TermVariant {
            words: words.iter().map(|plain| word(plain)).collect(),
            factor,
            is_apart: false,
        };
        TermGroup {
            variants: vec![
                variant(&["mug"], 1.0),
                variant(&["cup"], 0.8),
                variant(&["tea", "bowl"], 0.9),
            ],
        }
    }

    #[test]
    fn lists_that_are_read_tell_what_a_cursor_finds() {
        let dir = tempfile::tempdir().unwrap();
        let title = |row: u64| match row % 11 {
            0 | 1 => format!("Mug {row}"),
            2 => format!("Cup {row}"),
            3 => "Cup and Mug".to_owned(),
            4 => format!("Tea Bowl {row}"),
            5 => format!("Bowl for Tea {row}"),
            6 => "Tea Bowl, Mug".to_owned(),
            _ if row > 5_000 && row < 9_000 => format!("Mug {row}"),
            _ => format!("Plate {row}"),
        };
        let release = release((0..10_000).map(title), dir.path());
        let index = TextIndex::open(&release, Synonyms::none());
        let groups = [said_in_three_ways()];
        let open = OpenGroups::of(&release, &index, &groups);
        let lists = open.lists(0, 0).unwrap();
        assert!(lists.plain().is_none());

        let mut expected = Vec::new();
        let mut cursor = lists.cursor().unwrap();
        while cursor.row() != NO_ROW {
            let found = cursor.score();
            expected.push((cursor.row(), found.score.to_bits(), found.title_level));
            cursor.advance();
        }
        assert!(expected.len() > 5_000);

        let (mut variants, mut best, mut told) = (lists.variants(), Window::new(), Vec::new());
        while variants.row() != NO_ROW {
            let end = best.begin(variants.row());
            variants.each_until(end, &mut best, |row, found| {
                told.push((row, found.score.to_bits(), found.title_level));
            });
        }
        assert_eq!(told, expected);

        let mut rows = BTreeSet::new();
        lists.each_rows(|some| rows.extend(some.iter().copied()));
        assert!(rows.iter().eq(expected.iter().map(|(row, ..)| row)));
        let mut held = Vec::new();
        RowSet::in_all(&[lists.rows(10_000)], |row| held.push(row));
        assert!(rows.iter().eq(&held));
        // Rows beyond the part's number of rows are omitted.
        let mut held = Vec::new();
        RowSet::in_all(&[lists.rows(7_001)], |row| held.push(row));
        assert!(rows.range(..7_001).eq(&held));
    }
}
