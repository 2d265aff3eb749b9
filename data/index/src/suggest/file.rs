use std::ops::Range;

use arrow::buffer::{Buffer, ScalarBuffer};
use bytes::Bytes;

use super::ascending::Ascending;
use super::near::near;
use super::texts::Texts;
use super::{Nearby, Reading, Work};

const MAGIC: &[u8; 8] = b"HAATSUG1";
/// Alignment of sections, in bytes.
const ALIGNMENT: usize = 64;
/// Fills the unused row slots of a phrase.
pub(super) const NO_ROW: u32 = u32::MAX;
/// Number of row slots of a phrase. The rows are of different stores.
pub(super) const PHRASE_ROWS: usize = 3;
/// Separates a phrase from its displayed text, if they differ.
pub(super) const SHOWN: char = '\t';
/// Number of sections of numbers. A few of them also have a text section.
const SECTIONS: usize = 13;
const HEADER: usize = MAGIC.len() + SECTIONS * 8;

/// Suggestions of a part, read in place.
///
/// Opening the file checks only the sizes. Every read checks its own bounds, so that a damaged file gives wrong
/// suggestions at worst.
#[derive(Debug)]
pub struct Suggest {
    words: Section,
    posting_ends: ScalarBuffer<u32>,
    postings: ScalarBuffer<u32>,
    posting_tree: ScalarBuffer<u32>,
    row_ends: ScalarBuffer<u32>,
    row_words: ScalarBuffer<u32>,
    rows: ScalarBuffer<u32>,
    keys: Section,
    ranks: ScalarBuffer<u32>,
    rank_tree: ScalarBuffer<u32>,
    shown: Section,
    counts: ScalarBuffer<u32>,
    found_in: ScalarBuffer<u32>,
}

type Section = Pair<ScalarBuffer<u32>, Bytes>;

impl Section {
    fn texts(&self) -> Texts<'_> {
        Texts {
            ends: &self.numbers,
            bytes: &self.text,
        }
    }
}

/// Phrase that a part suggests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phrase<'a> {
    /// Folded words of the phrase, identical in every part.
    pub key: &'a str,
    /// Text to display.
    pub text: &'a str,
    /// Number of the part's products that the phrase covers.
    pub count: u32,
    /// True if the typed text begins the phrase. False if it begins a later word.
    pub begins: bool,
}

enum Ranks<'a> {
    Listed(std::slice::Iter<'a, u32>),
    Sought(Ascending<'a>),
}

impl Ranks<'_> {
    fn next(&mut self, work: &mut Work) -> Option<u32> {
        match self {
            Self::Listed(ranks) => ranks.next().copied().filter(|_| work.step()),
            Self::Sought(ranks) => ranks.next(work),
        }
    }
}

/// Returns true if a title contains a word of one of the `wanted` ranges. `words` are the title's words in ascending
/// order. Returns false if the work budget is used up.
fn holds_one(words: &[u32], wanted: &[Range<u32>], work: &mut Work) -> bool {
    wanted.iter().any(|range| {
        let at = words.partition_point(|word| *word < range.start);
        work.step() && words.get(at).is_some_and(|word| *word < range.end)
    })
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pair<N, T> {
    pub(super) numbers: N,
    pub(super) text: T,
}

type Lengths = [Pair<u32, u32>; SECTIONS];
type Ranges = [Pair<Range<usize>, Range<usize>>; SECTIONS];

/// Computes the ranges of the sections from their lengths, and the end of the last section.
fn layout(lengths: Lengths) -> Option<(Ranges, usize)> {
    let mut end = HEADER;
    let mut section = |items: u32, size_bytes: usize| {
        let start = end.checked_next_multiple_of(ALIGNMENT)?;
        end = start.checked_add((items as usize).checked_mul(size_bytes)?)?;
        Some(start..end)
    };
    let mut ranges = Ranges::default();
    for (range, length) in ranges.iter_mut().zip(lengths) {
        range.numbers = section(length.numbers, 4)?;
        range.text = section(length.text, 1)?;
    }
    Some((ranges, end))
}

pub(super) fn write(sections: [Pair<&[u32], &[u8]>; SECTIONS]) -> Option<Vec<u8>> {
    let mut lengths = Lengths::default();
    for (length, section) in lengths.iter_mut().zip(sections) {
        length.numbers = u32::try_from(section.numbers.len()).ok()?;
        length.text = u32::try_from(section.text.len()).ok()?;
    }
    let (ranges, end) = layout(lengths)?;
    let mut out = Vec::with_capacity(end);
    out.extend_from_slice(MAGIC);
    for length in lengths {
        out.extend_from_slice(&length.numbers.to_le_bytes());
        out.extend_from_slice(&length.text.to_le_bytes());
    }
    for (section, range) in sections.into_iter().zip(ranges) {
        out.resize(range.numbers.start, 0);
        let numbers = section.numbers.iter();
        numbers.for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
        out.resize(range.text.start, 0);
        out.extend_from_slice(section.text);
    }
    Some(out)
}

fn lengths(bytes: &Bytes) -> Option<Lengths> {
    let rest = bytes.get(..HEADER)?.strip_prefix(MAGIC)?;
    let (numbers, _) = rest.as_chunks::<4>();
    let mut numbers = numbers.iter().map(|bytes| u32::from_le_bytes(*bytes));
    let mut lengths = Lengths::default();
    for length in &mut lengths {
        length.numbers = numbers.next()?;
        length.text = numbers.next()?;
    }
    Some(lengths)
}

impl Suggest {
    pub(crate) fn open(bytes: &Bytes, rows: u32) -> Result<Self, &'static str> {
        let lengths = lengths(bytes).ok_or("the file has no header")?;
        let (ranges, end) = layout(lengths).ok_or("the file is larger than the address space")?;
        if end != bytes.len() {
            return Err("the file's length differs from its header");
        }
        let mut sections = ranges.into_iter().map(|range| {
            let buffer = Buffer::from(bytes.slice(range.numbers));
            if buffer.as_ptr().align_offset(align_of::<u32>()) != 0 || cfg!(target_endian = "big") {
                return Err("the file cannot be read without copying on this machine");
            }
            Ok(Section {
                numbers: ScalarBuffer::from(buffer),
                text: bytes.slice(range.text),
            })
        });
        let mut next = || sections.next().unwrap_or(Err("a section is missing"));
        let opened = Self {
            words: next()?,
            posting_ends: next()?.numbers,
            postings: next()?.numbers,
            posting_tree: next()?.numbers,
            row_ends: next()?.numbers,
            row_words: next()?.numbers,
            rows: next()?.numbers,
            keys: next()?,
            ranks: next()?.numbers,
            rank_tree: next()?.numbers,
            shown: next()?,
            counts: next()?.numbers,
            found_in: next()?.numbers,
        };
        if opened.rows.len() == rows as usize {
            Ok(opened)
        } else {
            Err("the number of rows differs from the manifest's")
        }
    }

    /// Returns the index of this word among the words of titles, as a range.
    #[must_use]
    pub fn word(&self, word: &str) -> Range<u32> {
        self.words.texts().equal_to(word.as_bytes())
    }

    /// Returns the indexes of the words that start with `begin`.
    #[must_use]
    pub fn words_beginning_with(&self, begin: &str) -> Range<u32> {
        self.words.texts().beginning_with(begin.as_bytes())
    }

    /// Returns the words that begin with the same letter and are at most `edits_max` edits from the typed text.
    #[must_use]
    pub fn words_near(&self, typed: &str, edits_max: u8, reading: Reading, work: &mut Work) -> Vec<Nearby> {
        near(self.words.texts(), typed, edits_max, reading, work)
    }

    /// Returns the text of a word.
    #[must_use]
    pub fn word_text(&self, word: u32) -> &str {
        std::str::from_utf8(self.words.texts().at(word)).unwrap_or_default()
    }

    /// Returns the number of titles with one of these words. A title counts once for each of the words.
    #[must_use]
    pub fn titles_with(&self, words: &Range<u32>) -> usize {
        self.postings_of(words).len()
    }

    fn postings_of(&self, words: &Range<u32>) -> Range<usize> {
        let end = |word: u32| self.posting_ends.get(word as usize).map_or(0, |end| *end as usize);
        let before = |word: u32| word.checked_sub(1).map_or(0, end);
        before(words.start)..before(words.end).max(before(words.start))
    }

    /// Returns the best rows whose titles contain a word of each of the `wanted` ranges, best first. With no range,
    /// returns the best of all rows. `live` returns true for rows that are served.
    pub fn best_rows(
        &self,
        wanted: &[Vec<Range<u32>>],
        limit: usize,
        live: impl Fn(u32) -> bool,
        work: &mut Work,
    ) -> Vec<u32> {
        let size = |words: &&Vec<Range<u32>>| words.iter().map(|words| self.titles_with(words)).sum::<usize>();
        let Some(rarest) = wanted.iter().min_by_key(size) else {
            let ranks = (0..).take(self.rows.len()).take_while(|_| work.step());
            return ranks
                .filter_map(|rank| self.row(rank))
                .filter(|row| live(*row))
                .take(limit)
                .collect();
        };
        let mut ranks = self.ranks_of(rarest);
        let mut found = Vec::with_capacity(limit);
        while found.len() < limit
            && let Some(rank) = ranks.next(work)
        {
            let words = self.words_of(rank);
            let others = wanted.iter().filter(|others| !std::ptr::eq(*others, rarest));
            if others.into_iter().all(|wanted| holds_one(words, wanted, work)) {
                found.extend(self.row(rank).filter(|row| live(*row)));
            }
        }
        found
    }

    /// Returns the ranks in ascending order.
    fn ranks_of(&self, words: &[Range<u32>]) -> Ranks<'_> {
        // The postings of a single word are in order already.
        if let [word] = words
            && word.len() == 1
        {
            return Ranks::Listed(self.postings.get(self.postings_of(word)).unwrap_or_default().iter());
        }
        let mut ranks = Ascending::new(&self.postings, &self.posting_tree);
        words.iter().for_each(|words| ranks.add(self.postings_of(words)));
        Ranks::Sought(ranks)
    }

    fn row(&self, rank: u32) -> Option<u32> {
        let row = self.rows.get(rank as usize).copied();
        // A damaged file may contain a row that does not exist.
        row.filter(|row| (*row as usize) < self.rows.len())
    }

    fn words_of(&self, rank: u32) -> &[u32] {
        let end = |rank: u32| self.row_ends.get(rank as usize).map_or(0, |end| *end as usize);
        let start = rank.checked_sub(1).map_or(0, end);
        self.row_words.get(start..end(rank)).unwrap_or_default()
    }

    /// Returns at most `limit` phrases in which `begin` starts the phrase or a later word. Phrases that cover most
    /// products come first. `live` returns true for rows that are served.
    pub fn phrases(&self, begin: &str, limit: usize, live: impl Fn(u32) -> bool, work: &mut Work) -> Vec<Phrase<'_>> {
        let range = self.keys.texts().beginning_with(begin.as_bytes());
        let mut ranks = Ascending::new(&self.ranks, &self.rank_tree);
        ranks.add(range.start as usize..range.end as usize);
        let (mut found, mut last) = (Vec::with_capacity(limit), None);
        while found.len() < limit
            && let Some(rank) = ranks.next(work)
        {
            let (phrase, begins) = (rank / 2, rank % 2 == 0);
            // A phrase can match a second time at a later word.
            if last.replace(phrase) == Some(phrase) {
                continue;
            }
            let rows = (phrase as usize)
                .checked_mul(PHRASE_ROWS)
                .and_then(|start| self.found_in.get(start..));
            let mut rows = rows.unwrap_or_default().iter().take(PHRASE_ROWS);
            if !rows.any(|row| (*row as usize) < self.rows.len() && live(*row)) {
                continue;
            }
            let text = std::str::from_utf8(self.shown.texts().at(phrase)).unwrap_or_default();
            let count = self.counts.get(phrase as usize).copied().unwrap_or(0);
            if !text.is_empty() {
                let (key, text) = text.split_once(SHOWN).unwrap_or((text, text));
                found.push(Phrase {
                    key,
                    text,
                    count,
                    begins,
                });
            }
        }
        found
    }
}
