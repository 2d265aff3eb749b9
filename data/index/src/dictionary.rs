//! Words in the order of their bytes, each with the rows that hold it: what is looked up as it is written.
//!
//! | section | holds |
//! |---|---|
//! | header | magic, words, bytes of texts |
//! | entries | a word: where its text ends, how many rows hold it, where its rows end |
//! | texts | the words, one after the other |
//! | rows | a word: how far each row is from the one before, see [`varint`] |
//!
//! Numbers are little-endian. What is read is never trusted: a damaged file gives wrong answers at worst.

use bytes::Bytes;
use rustc_hash::FxHashMap;

use crate::varint;

/// The words of titles, as they are written and in all forms that a query may look for.
pub(crate) const TITLES: &str = "titles.bin";
/// The words of brand names and vendors, likewise.
pub(crate) const BRANDS: &str = "brands.bin";
/// SKUs and handles, each as one code; see [`data_text::code_of`].
pub(crate) const SKUS: &str = "skus.bin";

const MAGIC: &[u8; 8] = b"haatDIC1";
const HEADER_BYTES: usize = 16;
const ENTRY_BYTES: usize = 12;

/// A dictionary, opened.
#[derive(Debug, Clone)]
pub struct Dictionary {
    bytes: Bytes,
    words: usize,
    texts_at: usize,
    rows_at: usize,
}

/// A word of a dictionary.
#[derive(Debug, Clone, Copy)]
pub struct DictionaryEntry<'a> {
    /// The word.
    pub text: &'a str,
    /// The number of rows that hold it, dead ones included.
    pub count: u32,
    rows: &'a [u8],
}

impl<'a> DictionaryEntry<'a> {
    /// The rows that hold the word, ascending, dead ones included.
    pub fn rows(&self) -> impl Iterator<Item = u32> + use<'a> {
        let (mut bytes, mut row) = (self.rows.iter().copied(), 0_u32);
        std::iter::from_fn(move || {
            row = row.wrapping_add(varint::read(&mut bytes)?);
            Some(row)
        })
    }
}

impl Dictionary {
    /// Takes a file; `Err` says what is wrong with its frame.
    pub(crate) fn open(bytes: Bytes) -> Result<Self, &'static str> {
        let header = bytes.get(..HEADER_BYTES).ok_or("no header")?;
        if header.get(..8) != Some(MAGIC) {
            return Err("another kind of file");
        }
        let (words, texts) = (u32_at(header, 8), u32_at(header, 12));
        let texts_at = HEADER_BYTES + ENTRY_BYTES * words;
        let rows_at = texts_at + texts;
        if rows_at > bytes.len() {
            return Err("sections that the file does not hold");
        }
        Ok(Self {
            bytes,
            words,
            texts_at,
            rows_at,
        })
    }

    /// The entry of a word; `None` when no row holds it.
    #[must_use]
    pub fn find(&self, word: &str) -> Option<DictionaryEntry<'_>> {
        self.starting_at(word).next().filter(|entry| entry.text == word)
    }

    /// The words from this one on, in order.
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

    /// The end of the entry before in a section, at which this one begins.
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

/// Collects the words of a part, row by row.
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
    /// About how much memory it holds.
    pub(crate) const fn memory(&self) -> usize {
        self.memory
    }

    /// Takes a word of a row; rows come in order.
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

    /// The file; `None` where it would be longer than its numbers tell.
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
