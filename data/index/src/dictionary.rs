//! Dictionary of exact words, sorted by their bytes. Each word has the row numbers that contain the word.
//!
//! | section | contents |
//! |---|---|
//! | header | magic, number of words, length of the texts in bytes |
//! | entries | per word: end of its text, number of rows that contain it, end of its rows |
//! | texts | the words, concatenated |
//! | rows | per word: difference of each row from the previous one, see [`varint`] |
//!
//! Numbers are little-endian. The contents are treated as untrusted: a damaged file gives wrong results at worst.

use bytes::Bytes;
use rustc_hash::FxHashMap;

use crate::varint;

/// File name of the dictionary of title words. The file contains each word as written and in all forms that a query may
/// look up.
pub(crate) const TITLES: &str = "titles.bin";
/// File name of the words of brand names and vendors. The file contains each word as written and in all forms that a
/// query may look up.
pub(crate) const BRANDS: &str = "brands.bin";
/// File name of SKUs and handles. Each is one code: see [`data_text::code_of`].
pub(crate) const SKUS: &str = "skus.bin";

const MAGIC: &[u8; 8] = b"haatDIC1";
const HEADER_BYTES: usize = 16;
const ENTRY_BYTES: usize = 12;

/// Opened dictionary that maps each word to the rows that contain it.
#[derive(Debug, Clone)]
pub struct Dictionary {
    bytes: Bytes,
    words: usize,
    texts_at: usize,
    rows_at: usize,
}

/// One word of a dictionary, with its rows.
#[derive(Debug, Clone, Copy)]
pub struct DictionaryEntry<'a> {
    /// Text of the word.
    pub text: &'a str,
    /// Number of rows that contain the word, including dead rows.
    pub count: u32,
    rows: &'a [u8],
}

impl<'a> DictionaryEntry<'a> {
    /// Returns the rows that contain the word in ascending order, including dead rows.
    pub fn rows(&self) -> impl Iterator<Item = u32> + use<'a> {
        let (mut bytes, mut row) = (self.rows.iter().copied(), 0_u32);
        std::iter::from_fn(move || {
            row = row.wrapping_add(varint::read(&mut bytes)?);
            Some(row)
        })
    }
}

impl Dictionary {
    /// The error names the faulty part of the layout.
    pub(crate) fn open(bytes: Bytes) -> Result<Self, &'static str> {
        let header = bytes.get(..HEADER_BYTES).ok_or("the file has no header")?;
        if header.get(..8) != Some(MAGIC) {
            return Err("the file is not a dictionary");
        }
        let (words, texts) = (u32_at(header, 8), u32_at(header, 12));
        let texts_at = HEADER_BYTES + ENTRY_BYTES * words;
        let rows_at = texts_at + texts;
        if rows_at > bytes.len() {
            return Err("the file is shorter than its sections");
        }
        Ok(Self {
            bytes,
            words,
            texts_at,
            rows_at,
        })
    }

    /// Returns the entry of a word, or `None` if no row contains the word.
    #[must_use]
    pub fn find(&self, word: &str) -> Option<DictionaryEntry<'_>> {
        self.starting_at(word).next().filter(|entry| entry.text == word)
    }

    /// Returns the entries from `word` on, in ascending order.
    pub fn starting_at(&self, word: &str) -> impl Iterator<Item = DictionaryEntry<'_>> {
        let (mut from, mut to) = (0, self.words);
        while from < to {
            let middle = usize::midpoint(from, to);
            if self.text(middle) < word.as_bytes() {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        (from..self.words).filter_map(|at| self.entry(at))
    }

    fn entry(&self, at: usize) -> Option<DictionaryEntry<'_>> {
        let rows = self.bytes.get(self.rows_at..).unwrap_or_default();
        Some(DictionaryEntry {
            text: std::str::from_utf8(self.text(at)).ok()?,
            count: u32::try_from(self.number(at, 4)).ok()?,
            rows: rows.get(self.end(at, 8)..self.number(at, 8)).unwrap_or_default(),
        })
    }

    fn text(&self, at: usize) -> &[u8] {
        let texts = self.bytes.get(self.texts_at..self.rows_at).unwrap_or_default();
        texts.get(self.end(at, 0)..self.number(at, 0)).unwrap_or_default()
    }

    /// Returns the end of the previous entry in a section. The entry at `at` begins there.
    fn end(&self, at: usize, member: usize) -> usize {
        at.checked_sub(1).map_or(0, |before| self.number(before, member))
    }

    fn number(&self, at: usize, member: usize) -> usize {
        u32_at(&self.bytes, HEADER_BYTES + ENTRY_BYTES * at + member)
    }
}

fn u32_at(bytes: &[u8], at: usize) -> usize {
    let bytes = bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u32::from_le_bytes) as usize
}

#[derive(Debug, Default)]
pub(crate) struct DictionaryWriter {
    of_word: FxHashMap<Box<str>, RowList>,
    memory: usize,
}

#[derive(Debug, Default)]
struct RowList {
    count: u32,
    last: u32,
    bytes: Vec<u8>,
}

impl DictionaryWriter {
    pub(crate) const fn memory(&self) -> usize {
        self.memory
    }

    /// Rows must be added in ascending order.
    pub(crate) fn push(&mut self, row: u32, word: &str) {
        if !self.of_word.contains_key(word) {
            self.memory += word.len() + 64;
            self.of_word.insert(word.into(), RowList::default());
        }
        let Some(rows) = self.of_word.get_mut(word) else { return };
        if rows.count > 0 && rows.last == row {
            return;
        }
        let before = rows.bytes.capacity();
        varint::write(row - rows.last, &mut rows.bytes);
        (rows.last, rows.count) = (row, rows.count + 1);
        self.memory += rows.bytes.capacity() - before;
    }

    /// Returns the bytes of the file, or `None` if it is too long for its 32-bit offsets.
    pub(crate) fn finish(self) -> Option<Vec<u8>> {
        let mut words: Vec<_> = self.of_word.into_iter().collect();
        words.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let (mut entries, mut texts, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for (word, list) in &words {
            texts.extend_from_slice(word.as_bytes());
            rows.extend_from_slice(&list.bytes);
            for number in [
                u32::try_from(texts.len()).ok()?,
                list.count,
                u32::try_from(rows.len()).ok()?,
            ] {
                entries.extend_from_slice(&number.to_le_bytes());
            }
        }
        let mut out = Vec::with_capacity(HEADER_BYTES + entries.len() + texts.len() + rows.len());
        out.extend_from_slice(MAGIC);
        for number in [words.len(), texts.len()] {
            out.extend_from_slice(&u32::try_from(number).ok()?.to_le_bytes());
        }
        out.append(&mut entries);
        out.append(&mut texts);
        out.append(&mut rows);
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_written_is_found_in_order(rows in proptest::collection::vec(
            proptest::collection::vec("[a-cé]{0,4}", 0..6), 0..300), from in "[a-cé]{0,4}") {
            let (mut writer, mut model) = (DictionaryWriter::default(), BTreeMap::<String, BTreeSet<u32>>::new());
            for (row, words) in (0..).zip(&rows) {
                for word in words {
                    writer.push(row, word);
                    model.entry(word.clone()).or_default().insert(row);
                }
            }
            let dictionary = Dictionary::open(writer.finish().unwrap().into()).unwrap();
            let held = |entry: DictionaryEntry<'_>| (entry.text.to_owned(), entry.rows().collect::<BTreeSet<_>>());
            let found: Vec<_> = dictionary.starting_at(&from).map(held).collect();
            let expected: Vec<_> = model.range(from.clone()..).map(|(word, rows)| (word.clone(), rows.clone())).collect();
            prop_assert_eq!(found, expected);
            let found = dictionary.find(&from).map(|entry| entry.count as usize);
            prop_assert_eq!(found, model.get(&from).map(BTreeSet::len));
        }

        #[test]
        fn a_damaged_file_is_refused_or_read_without_a_panic(
            words in proptest::collection::vec("[a-z]{1,8}", 1..50),
            flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut writer = DictionaryWriter::default();
            (0..).zip(&words).for_each(|(row, word)| writer.push(row * 1_000, word));
            let mut bytes = writer.finish().unwrap();
            for (at, bits) in flips {
                let at = at.index(bytes.len());
                bytes[at] ^= bits;
            }
            bytes.truncate(cut.index(bytes.len()) + 1);
            if let Ok(dictionary) = Dictionary::open(bytes.into()) {
                let rows: usize = dictionary.starting_at("").map(|entry| entry.rows().count()).sum();
                prop_assert!(rows < 100_000);
                let _ = dictionary.find("word");
            }
        }
    }
}
