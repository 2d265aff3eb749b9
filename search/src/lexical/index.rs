use std::collections::BTreeSet;

use data_index::{Part, Release};

use super::categories::CategoryNames;
use super::languages::Languages;
use super::rows::RowSet;
use super::score::as_float;
use super::synonyms::Synonyms;
use super::vocabulary::Vocabulary;
use super::whole::BrandNames;

/// Data for lexical search, derived from a release once, in addition to the terms of its parts.
pub(crate) struct TextIndex {
    /// Live rows of each part. `None` if all rows are live.
    pub(super) alive: Vec<Option<RowSet>>,
    /// Number of products, including dead rows.
    pub(super) docs: f32,
    pub(super) vocabulary: Vocabulary,
    pub(super) synonyms: Synonyms,
    pub(super) languages: Languages,
    pub(super) brand_names: BrandNames,
    pub(super) category_names: CategoryNames,
}

impl std::fmt::Debug for TextIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextIndex")
            .field("docs", &self.docs)
            .finish_non_exhaustive()
    }
}

impl TextIndex {
    pub(crate) fn open(release: &Release, synonyms: Synonyms) -> Self {
        let mut vocabulary = Vocabulary::of(release);
        let languages = Languages::of(&vocabulary);
        let is_held = |stem: &str| release.parts().iter().any(|part| part.holds(stem));
        vocabulary.add_spellings(synonyms.spellings(is_held));
        let docs: u64 = release.parts().iter().map(|part| u64::from(part.rows())).sum();
        Self {
            alive: release.parts().iter().map(alive).collect(),
            docs: as_float(docs.max(1)),
            vocabulary,
            synonyms,
            languages,
            brand_names: BrandNames::of(release),
            category_names: CategoryNames::of(release),
        }
    }

    /// Returns the number of titles, brand names and category names with a word.
    pub(crate) fn count(&self, word: &str) -> u32 {
        self.vocabulary.count(word)
    }

    /// Returns single words that shoppers use for this one.
    pub(crate) fn other_words(&self, word: &str) -> Vec<String> {
        self.synonyms.of_word(word).collect()
    }

    /// Returns at most `words_max` longer title words in alphabetical order that start with `typed`, a prefix with
    /// digits.
    pub(super) fn codes_beginning_with(&self, release: &Release, typed: &str, words_max: usize) -> Vec<String> {
        let mut codes = BTreeSet::new();
        for part in release.parts() {
            let words = part.titles().starting_at(typed).take(words_max);
            let longer = words.take_while(|word| word.text.starts_with(typed));
            codes.extend(longer.map(|word| word.text.to_owned()));
        }
        codes.remove(typed);
        codes.into_iter().take(words_max).collect()
    }
}

fn alive(part: &Part) -> Option<RowSet> {
    if part.unlisted().is_empty() {
        return None;
    }
    let mut dead = RowSet::none(part.rows());
    part.unlisted().iter().for_each(|row| dead.insert(row));
    Some(dead.not())
}
