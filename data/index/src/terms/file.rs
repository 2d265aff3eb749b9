use bytes::Bytes;

use super::list::TermList;
use super::stable_hash;

pub(super) const MAGIC: &[u8; 8] = b"haatTRM1";
pub(super) const HEADER_BYTES: usize = 40;
pub(super) const ENTRY_BYTES: usize = 16;
const TITLE_BYTES: usize = 8;

/// The terms of a part, opened.
#[derive(Debug, Clone)]
pub struct Terms {
    bytes: Bytes,
    terms: usize,
    slots: usize,
    entries_at: usize,
    texts_at: usize,
    titles_at: usize,
    words_at: usize,
    lists_at: usize,
}

/// Words of a title as hashes of [`word_hash`](super::word_hash), one per position.
#[derive(Debug, Clone, Copy)]
pub struct TitleWords<'a>(&'a [u8]);

impl<'a> TitleWords<'a> {
    /// Returns the number of words.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len() / 2
    }

    /// Returns true if the title has no words.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.len() < 2
    }

    /// Returns the hashes of the words in order.
    pub fn iter(self) -> impl Iterator<Item = u16> + Clone + 'a {
        let (words, _) = self.0.as_chunks::<2>();
        words.iter().map(|word| u16::from_le_bytes(*word))
    }
}

impl Terms {
    /// The error names the faulty part of the layout.
    pub(crate) fn open(bytes: Bytes, rows: u32) -> Result<Self, &'static str> {
        let header = bytes.get(..HEADER_BYTES).ok_or("the file has no header")?;
        if header.get(..8) != Some(MAGIC) {
            return Err("the file is not a term file");
        }
        let number = |at: usize| u32_at(header, at) as usize;
        let (found, terms, slots, texts, words) = (number(8), number(12), number(16), number(20), number(24));
        if found != rows as usize {
            return Err("the number of rows differs from the manifest's");
        }
        if !slots.is_power_of_two() || slots <= terms {
            return Err("the hash table is too small for its terms");
        }
        let entries_at = HEADER_BYTES + 4 * slots;
        let texts_at = entries_at + ENTRY_BYTES * terms;
        let titles_at = texts_at + texts;
        let words_at = titles_at + TITLE_BYTES * found;
        let lists_at = words_at + 2 * words;
        if lists_at > bytes.len() {
            return Err("the file is shorter than its sections");
        }
        Ok(Self {
            bytes,
            terms,
            slots,
            entries_at,
            texts_at,
            titles_at,
            words_at,
            lists_at,
        })
    }

    /// Returns the number of terms.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.terms
    }

    /// Returns true if there are no terms.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.terms == 0
    }

    /// Returns the posting list of a term, or `None` when no product contains the term.
    #[must_use]
    pub fn find(&self, term: &str) -> Option<TermList<'_>> {
        let mask = self.slots - 1;
        let mut slot = stable_hash(term.as_bytes()) as usize & mask;
        // A damaged hash table may have no empty slot.
        for _ in 0..self.slots {
            let entry = (u32_at(&self.bytes, HEADER_BYTES + 4 * slot) as usize).checked_sub(1)?;
            if self.text(entry) == Some(term.as_bytes()) {
                return self.list(entry);
            }
            slot = (slot + 1) & mask;
        }
        None
    }

    fn text(&self, entry: usize) -> Option<&[u8]> {
        let end = |entry: usize| u32_at(&self.bytes, self.entries_at + ENTRY_BYTES * entry) as usize;
        let from = entry.checked_sub(1).map_or(0, end);
        self.bytes
            .get(self.texts_at..self.titles_at)?
            .get(from..end(entry))
            .filter(|_| entry < self.terms)
    }

    fn list(&self, entry: usize) -> Option<TermList<'_>> {
        let at = self.entries_at + ENTRY_BYTES * entry;
        let from: [u8; 8] = self.bytes.get(at + 8..at + 16)?.try_into().ok()?;
        let from = usize::try_from(u64::from_le_bytes(from)).ok()?;
        TermList::read(
            u32_at(&self.bytes, at + 4),
            self.bytes.get(self.lists_at..)?.get(from..)?,
        )
    }

    /// Returns a hash of the row's whole title, as normalised by [`data_text::letters_of`].
    #[must_use]
    #[inline]
    pub fn title_hash(&self, row: u32) -> u32 {
        u32_at(&self.bytes, self.titles_at + TITLE_BYTES * row as usize)
    }

    /// Returns the words of a row's title.
    #[must_use]
    #[inline]
    pub fn title_words(&self, row: u32) -> TitleWords<'_> {
        let end = |row: usize| 2 * u32_at(&self.bytes, self.titles_at + TITLE_BYTES * row + 4) as usize;
        let row = row as usize;
        let from = row.checked_sub(1).map_or(0, end);
        let words = self.bytes.get(self.words_at..self.lists_at);
        TitleWords(words.and_then(|words| words.get(from..end(row))).unwrap_or_default())
    }
}

#[inline]
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..at + 4)
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, u32::from_le_bytes)
}
