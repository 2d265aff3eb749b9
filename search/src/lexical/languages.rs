use data_understanding::languages::in_english;
use rustc_hash::{FxHashMap, FxHashSet};

use super::group::{GroupWord, TermGroup, TermVariant};
use super::synonyms::Synonym;
use super::term::QueryTerm;
use super::terms::QueryTerms;
use super::vocabulary::Vocabulary;

/// Weight of a match in another language, relative to a match of the query word itself.
pub(super) const FACTOR: f32 = 0.6;
/// Minimum number of a language's words in titles for the titles to count as being in that language.
const TITLED_MIN: usize = 6;
/// Maximum number of translations of one word. Those most common in titles are used.
const OF_WORD_MAX: usize = 6;
/// Maximum number of English words that are translated together, as in `air fryer`.
const PHRASE_MAX: usize = 3;

/// Translations between English words and title words in other languages, in both directions. It is empty if all titles
/// are English.
#[derive(Debug, Default)]
pub(super) struct Languages {
    /// Title words by English words. The key has stems joined by spaces.
    titled: FxHashMap<Box<str>, Vec<Box<str>>>,
    /// English words by title words.
    english: FxHashMap<Box<str>, Vec<Box<str>>>,
}

impl Languages {
    pub(super) fn of(vocabulary: &Vocabulary) -> Self {
        let mut named: Vec<(&str, u32, Vec<_>)> = Vec::new();
        let mut counts: FxHashMap<u8, usize> = FxHashMap::default();
        for (word, titles) in vocabulary.words() {
            let found: Vec<_> = in_english(word, data_embedding::is_word).collect();
            // Words that English text has do not identify a language, and neither do words that may be compounds by
            // chance.
            let tells = !data_embedding::is_word(word);
            for own in found.iter().filter(|found| tells && !found.is_shared && !found.is_made) {
                *counts.entry(own.language).or_default() += 1;
            }
            if !found.is_empty() {
                named.push((word, titles, found));
            }
        }
        counts.retain(|_, count| *count >= TITLED_MIN);
        named.sort_unstable_by_key(|(word, titles, _)| (std::cmp::Reverse(*titles), *word));
        let mut languages = Self::default();
        for (word, _, found) in named {
            for found in found.iter().filter(|found| counts.contains_key(&found.language)) {
                languages.add_word(word, &found.english);
            }
        }
        languages
    }

    fn add_word(&mut self, word: &str, english: &str) {
        let stems = data_text::stems(english);
        // The last component of a compound gives its kind.
        let mut keys: FxHashSet<String> = stems.last().cloned().into_iter().collect();
        keys.insert(stems.join(" "));
        for key in keys {
            let words = self.titled.entry(key.into()).or_default();
            if words.len() < OF_WORD_MAX {
                words.push(word.into());
            }
        }
        if !data_embedding::is_word(word) {
            self.english.entry(word.into()).or_default().push(english.into());
        }
    }

    /// `stem` is that of an English word.
    pub(super) fn leads(&self, stem: &str) -> bool {
        self.titled.contains_key(stem)
    }

    /// Returns the title words in other languages for an English phrase, given as stems.
    pub(super) fn titled(&self, stems: &[String]) -> impl Iterator<Item = &str> {
        let words = self.titled.get(stems.join(" ").as_str());
        words.into_iter().flatten().map(|word| &**word)
    }

    /// Adds title words to English words, and English words to title words. Returns the added words.
    pub(super) fn add(
        &self,
        terms: &QueryTerms,
        groups: &mut [TermGroup],
        is_held: impl Fn(&str) -> bool,
    ) -> Vec<Synonym> {
        let mut added = Vec::new();
        if self.titled.is_empty() {
            return added;
        }
        let terms: Vec<&QueryTerm> = terms.iter().collect();
        for at in 0..terms.len() {
            for words in (1..=PHRASE_MAX).rev() {
                let Some(phrase) = terms.get(at..at + words) else {
                    continue;
                };
                let key = phrase.iter().map(|term| &*term.stemmed).collect::<Vec<_>>().join(" ");
                let titled = self.titled.get(key.as_str()).into_iter().flatten();
                let english = terms.get(at).filter(|_| words == 1);
                let english = english.and_then(|term| self.english.get(term.plain.as_str()));
                let of = phrase.iter().map(|term| &*term.plain).collect::<Vec<_>>().join(" ");
                for to in titled.chain(english.into_iter().flatten()) {
                    let covered = groups.get_mut(at..at + words).unwrap_or_default();
                    if add_variant(covered, to, &is_held) {
                        added.push(Synonym {
                            of: of.clone(),
                            to: to.to_string(),
                        });
                    }
                }
            }
        }
        added
    }
}

/// Adds a variant to the groups, unless no product has it or a group already has it.
fn add_variant(groups: &mut [TermGroup], to: &str, is_held: &impl Fn(&str) -> bool) -> bool {
    let plain = data_text::plain_words(to);
    let words: Vec<QueryTerm> = plain.iter().map(|word| QueryTerm::of_word(word, 0)).collect();
    let words: Vec<GroupWord> = words.iter().map(GroupWord::of).collect();
    let is_there = |group: &TermGroup| {
        group.variants.iter().any(|variant| {
            let stems = variant.words.iter().map(|word| &word.stem);
            stems.eq(words.iter().map(|word| &word.stem))
        })
    };
    if !words.iter().all(|word| is_held(&word.stem)) || groups.iter().any(is_there) {
        return false;
    }
    for group in groups {
        group.variants.push(TermVariant {
            words: words.clone(),
            factor: FACTOR,
            is_apart: false,
        });
    }
    true
}
