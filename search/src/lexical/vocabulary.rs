use data_index::{CategoryNode, DictionaryEntry, Part, Release};
use data_text::{Analysis, analyse, edits};
use rustc_hash::FxHashMap;

/// A longer word is neither a correction nor a typing error.
const CHARS_MAX: usize = 32;

/// Words of a release's titles, brands and categories, which corrections are chosen from.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    /// Words by number of letters.
    lengths: Vec<Vec<Word>>,
    /// Number of titles, brand names and category names with a word. A category counts once for each of its products.
    counts: FxHashMap<Box<str>, u32>,
    /// Words except the longest in alphabetical order, so that words with the same prefix are adjacent.
    alphabet: Vec<(Box<str>, u32)>,
}

/// Minimum number of letters of a word that is in no title but counts because of its synonyms. Short words are too
/// similar to others.
const SPELLING_CHARS_MIN: usize = 8;

/// Word with a synonym in titles. Titles need not contain the word itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spelling<'a> {
    pub(super) word: &'a str,
    pub(super) to: &'a str,
}

/// Conditions of a correction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Near {
    /// Maximum edit distance.
    pub(super) edits_max: usize,
    /// True if the first letter must differ, false if it must be the same.
    pub(super) other_first: bool,
    /// Minimum number of titles with the word.
    pub(super) titles_min: u32,
}

#[derive(Debug)]
struct Word {
    text: Box<str>,
    /// Bit set of the letters, with which most words are rejected without a comparison.
    letters: u64,
    /// Number of titles, brand names and category names with the word or its synonym.
    count: u32,
    /// Number of titles and names in `count` that count as having the word itself.
    titles: u32,
}

impl Vocabulary {
    pub(super) fn of(release: &Release) -> Self {
        let mut counts: FxHashMap<Box<str>, u32> = FxHashMap::default();
        for part in release.parts() {
            let words = [part.titles(), part.brand_names()]
                .into_iter()
                .flat_map(|words| words.starting_at(""));
            // Numbers and codes are never corrected and never used as corrections.
            for word in words.filter(|word| word.text.chars().all(char::is_alphabetic)) {
                let held = live(part, &word);
                if held > 0 {
                    *counts.entry(word.text.into()).or_default() += held;
                }
            }
        }
        release
            .category_tree()
            .iter()
            .for_each(|node| add_names(node, &mut counts));
        let mut lengths: Vec<Vec<Word>> = (0..=CHARS_MAX).map(|_| Vec::new()).collect();
        for (text, count) in &counts {
            if let Some(words) = lengths.get_mut(text.chars().count()) {
                words.push(Word {
                    text: text.clone(),
                    letters: letters(text),
                    count: *count,
                    titles: *count,
                });
            }
        }
        Self {
            lengths,
            alphabet: alphabet(&counts),
            counts,
        }
    }

    /// Returns the number of titles, brand names and category names with this word.
    pub(super) fn count(&self, word: &str) -> u32 {
        self.counts.get(word).copied().unwrap_or(0)
    }

    /// Returns each word with the number of titles and names that have it.
    pub(super) fn words(&self) -> impl Iterator<Item = (&str, u32)> {
        self.counts.iter().map(|(word, count)| (&**word, *count))
    }

    /// Adds words with synonyms in titles, so that misspellings can be corrected to them. Each has the frequency of its
    /// synonym.
    pub(super) fn add_spellings<'a>(&mut self, spellings: impl Iterator<Item = Spelling<'a>>) {
        let mut counts: FxHashMap<&str, u32> = FxHashMap::default();
        for Spelling { word, to } in spellings {
            if !self.counts.contains_key(word) && word.chars().all(char::is_alphabetic) {
                let count = counts.entry(word).or_default();
                *count = self.count(to).max(*count);
            }
        }
        for (word, count) in counts {
            let is_long = word.chars().count() >= SPELLING_CHARS_MIN;
            if let Some(words) = self.lengths.get_mut(word.chars().count()) {
                words.push(Word {
                    text: word.into(),
                    letters: letters(word),
                    count,
                    titles: if is_long { count } else { 0 },
                });
            }
        }
    }

    /// Returns the nearest word, and of equally near words the most frequent. A final `s` does not count as an edit,
    /// because titles may contain only the plural or the singular.
    pub(super) fn nearest(&self, typed: &str, near: Near) -> Option<&str> {
        self.nearest_counted(typed, near).map(|(word, _)| word)
    }

    /// Returns the nearest word with its frequency.
    pub(super) fn nearest_counted(&self, typed: &str, near: Near) -> Option<(&str, u32)> {
        let other = match typed.strip_suffix('s') {
            Some(singular) => singular.to_owned(),
            None => format!("{typed}s"),
        };
        let written = self.nearest_to(typed, near);
        let other = self.nearest_to(&other, near);
        let (written, other) = (written.map(|found| (found, 0)), other.map(|found| (found, 1)));
        let best = written.into_iter().chain(other);
        best.min_by_key(|((distance, count, word), form)| (*distance, *form, *count, *word))
            .map(|((_, count, word), _)| (word, count.0))
    }

    fn nearest_to(&self, typed: &str, near: Near) -> Option<(usize, std::cmp::Reverse<u32>, &str)> {
        let chars: Vec<char> = typed.chars().collect();
        let letters = letters(typed);
        let distance_max = near.edits_max;
        let from = chars.len().saturating_sub(distance_max);
        let candidates = self
            .lengths
            .get(from..)
            .unwrap_or_default()
            .iter()
            .take(2 * distance_max + 1)
            .flatten();
        let mut best: Option<(usize, std::cmp::Reverse<u32>, &str)> = None;
        for word in candidates {
            // Each edit changes at most two letters of the letter set.
            if (word.letters ^ letters).count_ones() as usize > 2 * distance_max
                || word.titles < near.titles_min
                || (word.text.chars().next() != chars.first().copied()) != near.other_first
            {
                continue;
            }
            let distance = edits(&chars, &word.text, distance_max);
            if distance <= distance_max {
                let rank = (distance, std::cmp::Reverse(word.count), &*word.text);
                best = Some(best.map_or(rank, |best| best.min(rank)));
            }
        }
        best
    }

    /// Returns at most `words_max` longer words that start with `typed`, most frequent first. Ties are in alphabetical
    /// order.
    pub(super) fn beginning_with(&self, typed: &str, words_max: usize) -> Vec<&str> {
        let from = self.alphabet.partition_point(|(text, _)| **text <= *typed);
        let longer = self.alphabet.get(from..).unwrap_or_default().iter();
        let mut words: Vec<(std::cmp::Reverse<u32>, &str)> = longer
            .take_while(|(text, _)| text.starts_with(typed))
            .map(|(text, count)| (std::cmp::Reverse(*count), &**text))
            .collect();
        if words.len() > words_max {
            words.select_nth_unstable(words_max);
            words.truncate(words_max);
        }
        words.sort_unstable();
        words.into_iter().map(|(_, word)| word).collect()
    }

    /// Splits `typed` into two known words that `is_half` accepts. Of several splits, the one whose rarer word is most
    /// frequent counts. A word in only one title must be a common word.
    pub(super) fn split<'a>(
        &self,
        typed: &'a str,
        chars_min: usize,
        is_half: impl Fn(&str) -> bool,
    ) -> Option<(&'a str, &'a str)> {
        let places = typed.char_indices().map(|(at, _)| at).skip(chars_min);
        let ways = places
            .filter_map(|at| typed.split_at_checked(at))
            .filter(|(first, rest)| rest.chars().count() >= chars_min && is_half(first) && is_half(rest));
        let held = |(first, second): &(&str, &str)| self.count(first).min(self.count(second));
        let written =
            |(first, second): &(&str, &str)| data_embedding::is_word(first) && data_embedding::is_word(second);
        ways.max_by_key(held)
            .filter(|way| held(way) >= 2 || (held(way) == 1 && written(way)))
    }
}

/// Adds the words in the names of a category and its descendants.
fn add_names(node: &CategoryNode, counts: &mut FxHashMap<Box<str>, u32>) {
    let products = u32::try_from(node.product_count).unwrap_or(u32::MAX);
    for word in analyse(Analysis::Plain, node.category.name) {
        if word.text.chars().all(char::is_alphabetic) {
            let count = counts.entry(word.text.into()).or_default();
            *count = count.saturating_add(products);
        }
    }
    node.children.iter().for_each(|node| add_names(node, counts));
}

/// Returns the number of live products with a word.
fn live(part: &Part, word: &DictionaryEntry<'_>) -> u32 {
    if part.dead().is_empty() {
        return word.count;
    }
    let rows = word.rows().filter(|row| !part.dead().contains(*row));
    u32::try_from(rows.count()).unwrap_or(u32::MAX)
}

fn letters(word: &str) -> u64 {
    word.chars()
        .fold(0, |letters, char| letters | 1 << (u32::from(char) % 64))
}

fn alphabet(counts: &FxHashMap<Box<str>, u32>) -> Vec<(Box<str>, u32)> {
    let words = counts.iter().map(|(text, count)| (text.clone(), *count));
    let mut words: Vec<_> = words.filter(|(text, _)| text.chars().count() <= CHARS_MAX).collect();
    words.sort_unstable();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary(words: &[(&str, u32)]) -> Vocabulary {
        let mut vocabulary = Vocabulary {
            lengths: (0..=CHARS_MAX).map(|_| Vec::new()).collect(),
            counts: FxHashMap::default(),
            alphabet: Vec::new(),
        };
        for (text, count) in words {
            vocabulary.counts.insert((*text).into(), *count);
            vocabulary.lengths[text.chars().count()].push(Word {
                text: (*text).into(),
                letters: letters(text),
                count: *count,
                titles: *count,
            });
        }
        vocabulary.alphabet = alphabet(&vocabulary.counts);
        vocabulary
    }

    fn near(edits_max: usize) -> Near {
        Near {
            edits_max,
            other_first: false,
            titles_min: 0,
        }
    }

    #[test]
    fn the_nearest_and_then_the_most_frequent_word_is_meant() {
        let words = vocabulary(&[
            ("espresso", 9),
            ("express", 50),
            ("shirt", 40),
            ("short", 60),
            ("skirt", 5),
            ("café", 3),
        ]);
        assert_eq!(words.nearest("espreso", near(1)), Some("espresso"));
        assert_eq!(words.nearest("shrit", near(1)), Some("shirt"));
        assert_eq!(words.nearest("shxrt", near(1)), Some("short"));
        assert_eq!(words.nearest("caféé", near(1)), Some("café"));
        assert_eq!(words.nearest("xhirt", near(1)), None);
        assert_eq!(words.nearest("unrelated", near(2)), None);
        let other_first = Near {
            other_first: true,
            ..near(1)
        };
        assert_eq!(words.nearest("xhirt", other_first), Some("shirt"));
        assert_eq!(words.nearest("shrit", other_first), None);
        let titles_min = 10;
        assert_eq!(words.nearest("espreso", Near { titles_min, ..near(1) }), None);
        let plurals = vocabulary(&[("headphones", 9), ("sneaker", 4)]);
        assert_eq!(plurals.nearest("hedphone", near(1)), Some("headphones"));
        assert_eq!(plurals.nearest("sneekers", near(1)), Some("sneaker"));
    }

    #[test]
    fn a_word_is_split_where_both_halves_are_known() {
        let words = vocabulary(&[("light", 9), ("bulb", 8), ("lig", 1), ("htbulb", 1)]);
        assert_eq!(words.split("lightbulb", 3, |_| true), Some(("light", "bulb")));
        assert_eq!(words.split("lightbox", 3, |_| true), None);
    }

    #[test]
    fn the_most_frequent_words_that_begin_so_are_meant() {
        let words = vocabulary(&[("coffee", 9), ("coffin", 2), ("coffees", 2), ("cof", 5), ("café", 40)]);
        assert_eq!(words.beginning_with("cof", 50), ["coffee", "coffees", "coffin"]);
        assert_eq!(words.beginning_with("cof", 1), ["coffee"]);
        assert!(words.beginning_with("coffees", 50).is_empty());
        assert!(words.beginning_with(&"x".repeat(99), 50).is_empty());
    }
}
