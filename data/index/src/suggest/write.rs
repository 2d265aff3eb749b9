use std::cmp::Reverse;

use data_model::{Product, ProductId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::ascending::tree_of;
use super::file::{NO_ROW, PHRASE_ROWS, Pair, SHOWN, write};
use super::phrases::{self, Text, WORDS_MAX};
use super::ranked::beginnings;
use super::texts::TextsWriter;
use crate::taxonomy;
use data_text::indexed_words;

/// Maximum number of phrases of a part. The phrases that cover the most products are stored.
const PHRASES_MAX: usize = 1 << 15;
const TITLE_WORDS_MAX: usize = 64;
/// Fills the unused word slots of a shorter phrase.
const NO_WORD: u32 = u32::MAX;
/// Minimum number of products for a phrase with digits. A rarer phrase may be a code.
const WITH_DIGITS_MIN: u32 = 3;

#[derive(Debug, Default)]
pub(crate) struct SuggestWriter {
    words: FxHashMap<Box<str>, u32>,
    /// Words of each row's title, with the end offset of each row.
    row_words: Vec<u32>,
    row_ends: Vec<usize>,
    qualities: Vec<f32>,
    ids: Vec<ProductId>,
    /// Phrases of titles by their words, and whole names.
    phrases: FxHashMap<[u32; WORDS_MAX], PhraseEntry>,
    names: FxHashMap<String, PhraseEntry>,
}

#[derive(Debug, Clone)]
struct PhraseEntry {
    count: u32,
    last_row: u32,
    last_store: u32,
    /// Rows of different stores, so that the phrase disappears when all its stores are gone.
    rows: [u32; PHRASE_ROWS],
    /// Displayed text, if it differs from the phrase's words with spaces between them.
    shown: Option<Box<str>>,
    digits: bool,
}

#[derive(Debug, Default)]
struct WordSections {
    texts: TextsWriter,
    posting_ends: Vec<u32>,
    postings: Vec<u32>,
    row_ends: Vec<u32>,
    row_words: Vec<u32>,
    rows: Vec<u32>,
}

struct KeyedPhrase {
    key: String,
    held: PhraseEntry,
}

fn begins_with_grammar(key: &str) -> bool {
    key.split(' ').next().is_some_and(phrases::is_grammar)
}

impl<'a> Pair<&'a [u32], &'a [u8]> {
    fn of_numbers(numbers: &'a [u32]) -> Self {
        Self { numbers, text: &[] }
    }

    fn of_texts(texts: &'a TextsWriter) -> Self {
        Self {
            numbers: &texts.ends,
            text: &texts.bytes,
        }
    }
}

impl PhraseEntry {
    fn new(text: &Text) -> Self {
        Self {
            count: 0,
            last_row: NO_ROW,
            last_store: NO_ROW,
            rows: [NO_ROW; PHRASE_ROWS],
            shown: (text.shown != text.key).then(|| text.shown.as_str().into()),
            digits: text.digits,
        }
    }

    fn add(&mut self, row: u32, store: u32) {
        if self.last_row == row {
            return;
        }
        if self.last_store != store
            && let Some(free) = self.rows.iter_mut().find(|held| **held == NO_ROW)
        {
            *free = row;
        }
        (self.last_row, self.last_store) = (row, store);
        self.count += 1;
    }
}

impl SuggestWriter {
    /// Returns the approximate memory use of the row in bytes.
    pub(crate) fn push(&mut self, product: &Product, brand: &str, store: u32, quality: f32) -> usize {
        let row = u32::try_from(self.qualities.len()).unwrap_or(NO_ROW);
        self.qualities.push(quality);
        self.ids.push(product.key.id());
        let start = self.row_words.len();
        for word in indexed_words(&product.title).into_iter().take(TITLE_WORDS_MAX) {
            let next = u32::try_from(self.words.len()).unwrap_or(NO_WORD);
            let word = *self.words.entry(word.text.into_boxed_str()).or_insert(next);
            if self.row_words.get(start..).is_some_and(|held| !held.contains(&word)) {
                self.row_words.push(word);
            }
        }
        self.row_ends.push(self.row_words.len());
        let before = self.phrases.len();
        phrases::of_title(&product.title, |terms, text| {
            let mut key = [NO_WORD; WORDS_MAX];
            for (place, term) in key.iter_mut().zip(terms) {
                let Some(word) = self.words.get(term.text.as_str()) else {
                    return;
                };
                *place = *word;
            }
            self.phrases
                .entry(key)
                .or_insert_with(|| PhraseEntry::new(&text))
                .add(row, store);
        });
        let category = product.category.and_then(taxonomy::by_id);
        let names = [
            phrases::of_name(brand),
            product.product_type.as_deref().and_then(phrases::of_product_type),
            category.and_then(|category| phrases::of_name(category.name)),
        ];
        for text in names.into_iter().flatten() {
            let held = PhraseEntry::new(&text);
            self.names.entry(text.key).or_insert(held).add(row, store);
        }
        8 * (self.row_words.len() - start) + 128 * (self.phrases.len() - before)
    }

    /// Returns the bytes of the file, or `None` if the content exceeds the format's limits.
    pub(crate) fn finish(self) -> Option<Vec<u8>> {
        let words = self.word_sections()?;
        let phrases = self.phrases();
        let mut keyed: Vec<(&str, u32)> = Vec::new();
        for (rank, kept) in (0..).zip(&phrases) {
            let keys = beginnings(&kept.key).zip(std::iter::once(0).chain(std::iter::repeat(1)));
            let wanted = keys.filter(|(key, later)| *later == 0 || !begins_with_grammar(key));
            keyed.extend(wanted.map(|(key, later)| (key, 2 * rank + later)));
        }
        keyed.sort_unstable();
        let (mut keys, mut shown) = (TextsWriter::default(), TextsWriter::default());
        keyed.iter().for_each(|(key, _)| keys.push(key));
        let ranks: Vec<u32> = keyed.iter().map(|(_, rank)| *rank).collect();
        let (mut counts, mut found_in) = (Vec::new(), Vec::new());
        for KeyedPhrase { key, held } in &phrases {
            match &held.shown {
                Some(as_shown) => shown.push(&format!("{key}{SHOWN}{as_shown}")),
                None => shown.push(key),
            }
            counts.push(held.count);
            found_in.extend(held.rows);
        }
        write([
            Pair::of_texts(&words.texts),
            Pair::of_numbers(&words.posting_ends),
            Pair::of_numbers(&words.postings),
            Pair::of_numbers(&tree_of(&words.postings)),
            Pair::of_numbers(&words.row_ends),
            Pair::of_numbers(&words.row_words),
            Pair::of_numbers(&words.rows),
            Pair::of_texts(&keys),
            Pair::of_numbers(&ranks),
            Pair::of_numbers(&tree_of(&ranks)),
            Pair::of_texts(&shown),
            Pair::of_numbers(&counts),
            Pair::of_numbers(&found_in),
        ])
    }

    /// Renumbers words in alphabetical order and rows by quality.
    fn word_sections(&self) -> Option<WordSections> {
        let mut words: Vec<(&str, u32)> = self.words.iter().map(|(text, word)| (&**text, *word)).collect();
        words.sort_unstable();
        let mut numbers = vec![0_u32; words.len()];
        let mut sections = WordSections::default();
        for (number, (text, word)) in (0..).zip(&words) {
            *numbers.get_mut(*word as usize)? = number;
            sections.texts.push(text);
        }
        sections.rows = (0..).take(self.qualities.len()).collect();
        let quality = |row: &u32| self.qualities.get(*row as usize).copied().unwrap_or(0.0);
        // Rows of equal quality are ordered by id, so that their order does not depend on the division of the release
        // into parts.
        let id = |row: &u32| self.ids.get(*row as usize);
        sections.rows.sort_unstable_by(|one, other| {
            let better = quality(other).total_cmp(&quality(one));
            better.then_with(|| id(one).cmp(&id(other)))
        });
        let mut holding = vec![Vec::new(); words.len()];
        for (rank, row) in (0..).zip(&sections.rows) {
            let before = (*row as usize).checked_sub(1);
            let start = before.map_or(Some(0), |before| self.row_ends.get(before).copied())?;
            let begin = sections.row_words.len();
            for word in self.row_words.get(start..*self.row_ends.get(*row as usize)?)? {
                let number = *numbers.get(*word as usize)?;
                holding.get_mut(number as usize)?.push(rank);
                sections.row_words.push(number);
            }
            sections.row_words.get_mut(begin..)?.sort_unstable();
            sections.row_ends.push(u32::try_from(sections.row_words.len()).ok()?);
        }
        for ranks in &holding {
            sections.postings.extend(ranks);
            sections.posting_ends.push(u32::try_from(sections.postings.len()).ok()?);
        }
        Some(sections)
    }

    /// Returns the phrases that are worth a suggestion, those with most products first.
    fn phrases(&self) -> Vec<KeyedPhrase> {
        let count_min = match self.qualities.len() {
            0..2_000 => 1,
            2_000..50_000 => 2,
            _ => 3,
        };
        let mut by_number: Vec<&str> = vec![""; self.words.len()];
        for (text, word) in &self.words {
            if let Some(place) = by_number.get_mut(*word as usize) {
                *place = text;
            }
        }
        let parts = self.parts_of_longer();
        let word = |word: &u32| by_number.get(*word as usize).copied();
        let wanted = |held: &PhraseEntry| held.count >= count_min && (!held.digits || held.count >= WITH_DIGITS_MIN);
        let of_titles = self
            .phrases
            .iter()
            .filter(|(words, held)| wanted(held) && !parts.contains(*words));
        let mut kept: FxHashMap<String, PhraseEntry> = self.names.clone();
        for (words, held) in of_titles {
            let key = words.iter().filter_map(word).collect::<Vec<_>>().join(" ");
            let same = kept.entry(key).or_insert_with(|| held.clone());
            if same.count < held.count {
                *same = held.clone();
            }
        }
        let mut kept: Vec<KeyedPhrase> = kept.into_iter().map(|(key, held)| KeyedPhrase { key, held }).collect();
        kept.sort_unstable_by(|one, other| {
            let order = |kept: &KeyedPhrase| (Reverse(kept.held.count), kept.key.len());
            order(one).cmp(&order(other)).then_with(|| one.key.cmp(&other.key))
        });
        kept.truncate(PHRASES_MAX);
        kept
    }

    /// Returns pairs of words that occur only within one longer phrase. The longer phrase is suggested instead.
    fn parts_of_longer(&self) -> FxHashSet<[u32; WORDS_MAX]> {
        let longer = self.phrases.iter().filter(|(words, _)| !words.contains(&NO_WORD));
        let parts = longer.flat_map(|([first, second, third], held)| {
            [[*first, *second, NO_WORD], [*second, *third, NO_WORD]].map(|part| (part, held.count))
        });
        let same =
            |(part, count): &([u32; WORDS_MAX], u32)| self.phrases.get(part).is_some_and(|held| held.count == *count);
        parts.filter(same).map(|(part, _)| part).collect()
    }
}
