use std::ops::Range;

use super::Work;
use super::texts::Texts;

/// Maximum length of a typed text that is compared for typing errors.
const CHARS_MAX: usize = 40;

/// Interpretation of a typed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// The typed text is complete.
    Whole,
    /// The typed text may continue.
    Beginning,
}

/// Range of consecutive texts with the same edit distance from the typed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearby {
    /// Number of letters inserted, deleted, replaced, or swapped with their neighbour.
    pub edits: u8,
    /// Indexes of the texts.
    pub texts: Range<u32>,
}

/// Edit distance table between the typed text and the prefixes of one text after another. Neighbours in sorted order
/// share a prefix, so that the table rows of that prefix are reused.
struct Walk<'a> {
    typed: &'a [char],
    /// One table row per letter, and one before the first: edit distances from each prefix of the typed text.
    rows: Vec<u8>,
    letters: Vec<char>,
    /// Minimum edit distance between the whole typed text and any prefix of the text, up to each letter.
    best: Vec<u8>,
}

/// Returns the texts that begin with the same letter as `typed` and are at most `edits_max` edits from it.
pub(super) fn near(texts: Texts<'_>, typed: &str, edits_max: u8, reading: Reading, work: &mut Work) -> Vec<Nearby> {
    let typed: Vec<char> = typed.chars().take(CHARS_MAX + 1).collect();
    let Some(first) = typed.first().filter(|_| typed.len() <= CHARS_MAX && edits_max > 0) else {
        return Vec::new();
    };
    let range = texts.beginning_with(first.encode_utf8(&mut [0; 4]).as_bytes());
    let mut walk = Walk::new(&typed);
    let (mut at, mut found) = (range.start, Vec::new());
    while at < range.end && work.step() {
        let text = std::str::from_utf8(texts.at(at)).unwrap_or_default();
        let mut settled = None;
        for (offset, letter) in text.char_indices().skip(walk.shared_with(text)) {
            if !work.step() {
                return found;
            }
            let least = walk.push(letter);
            let known = reading == Reading::Beginning && walk.best() <= least;
            if least > edits_max || known {
                // All texts with this prefix have the same distance.
                settled = text.as_bytes().get(..offset + letter.len_utf8());
                break;
            }
        }
        let edits = match (reading, settled) {
            (Reading::Beginning, _) => walk.best(),
            (Reading::Whole, Some(_)) => u8::MAX,
            (Reading::Whole, None) => walk.whole(),
        };
        let end = settled.map_or(at + 1, |begin| texts.end_of(begin, at..range.end));
        if edits <= edits_max {
            found.push(Nearby { edits, texts: at..end });
        }
        at = end.max(at + 1);
    }
    found
}

impl<'a> Walk<'a> {
    fn new(typed: &'a [char]) -> Self {
        let rows: Vec<u8> = (0..).take(typed.len() + 1).collect();
        Self {
            typed,
            best: rows.last().copied().into_iter().collect(),
            rows,
            letters: Vec::new(),
        }
    }

    /// Truncates the table to the prefix that the last text and this one share, and returns its length in letters.
    fn shared_with(&mut self, text: &str) -> usize {
        let shared = text
            .chars()
            .zip(&self.letters)
            .take_while(|(one, other)| one == *other)
            .count();
        self.letters.truncate(shared);
        self.best.truncate(shared + 1);
        self.rows.truncate((shared + 1) * (self.typed.len() + 1));
        shared
    }

    /// Returns the smallest distance in the new row.
    fn push(&mut self, letter: char) -> u8 {
        let width = self.typed.len() + 1;
        let above = self.rows.len() - width;
        let mut edit = self.rows[above].saturating_add(1);
        let mut least = edit;
        self.rows.push(edit);
        for (column, typed) in self.typed.iter().enumerate() {
            let change = self.rows[above + column].saturating_add(u8::from(*typed != letter));
            edit = change
                .min(edit.saturating_add(1))
                .min(self.rows[above + column + 1].saturating_add(1));
            let swapped = column > 0 && self.typed[column - 1] == letter && self.letters.last() == Some(typed);
            if swapped && let Some(before) = above.checked_sub(width) {
                edit = edit.min(self.rows[before + column - 1].saturating_add(1));
            }
            least = least.min(edit);
            self.rows.push(edit);
        }
        self.letters.push(letter);
        self.best.push(self.best().min(edit));
        least
    }

    fn whole(&self) -> u8 {
        self.rows.last().copied().unwrap_or(u8::MAX)
    }

    fn best(&self) -> u8 {
        self.best.last().copied().unwrap_or(u8::MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::texts::TextsWriter;
    use super::*;

    fn expected(words: &[String], typed: &str, edits_max: u8, reading: Reading) -> Vec<(u8, u32)> {
        let typed: Vec<char> = typed.chars().collect();
        let edits = |word: &String| {
            let begins = word.char_indices().map(|(end, _)| &word[..end]);
            let edits = |begin: &str| data_text::edits(&typed, begin, usize::from(u8::MAX) - 1);
            let whole = edits(word);
            match reading {
                Reading::Whole => whole,
                Reading::Beginning => begins.map(edits).fold(whole, usize::min),
            }
        };
        (0..)
            .zip(words)
            .filter(|(_, word)| word.chars().next() == typed.first().copied())
            .map(|(at, word)| (u8::try_from(edits(word)).unwrap(), at))
            .filter(|(edits, _)| *edits <= edits_max)
            .collect()
    }

    proptest! {
        #[test]
        fn near_texts_are_those_of_the_definition(
            words in prop::collection::vec("[aé][abc]{0,5}", 0..12),
            typed in "[aé][abc]{0,4}",
            edits_max in 1..3_u8,
        ) {
            // Duplicates are possible, because two phrases may continue identically.
            let mut words = words;
            words.sort_unstable();
            let mut texts = TextsWriter::default();
            words.iter().for_each(|word| texts.push(word));
            for reading in [Reading::Whole, Reading::Beginning] {
                let mut work = Work::of(100_000);
                let found: Vec<(u8, u32)> = near(texts.view(), &typed, edits_max, reading, &mut work)
                    .into_iter()
                    .flat_map(|near| near.texts.map(move |at| (near.edits, at)))
                    .collect();
                prop_assert_eq!(found, expected(&words, &typed, edits_max, reading), "{:?} {:?}", words, reading);
            }
        }
    }

    #[test]
    fn a_large_vocabulary_costs_few_steps() {
        let words: BTreeSet<String> = (0..60_000_u64)
            .map(|at| {
                let letters = (0..8).map(|place| at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (place * 7) & 31);
                letters
                    .map(|letter| char::from(b'a' + u8::try_from(letter % 26).unwrap()))
                    .collect()
            })
            .collect();
        let mut texts = TextsWriter::default();
        words.iter().for_each(|word| texts.push(word));
        let typed = words.iter().nth(30_000).unwrap();
        let typed = format!("{}{}", &typed[..4], &typed[5..]);
        let mut work = Work::of(20_000);
        assert!(!near(texts.view(), &typed, 1, Reading::Whole, &mut work).is_empty());
        assert!(work.left() > 18_000, "{}", 20_000 - work.left());
    }
}
