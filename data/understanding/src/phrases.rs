use rustc_hash::FxHashMap;

use super::tokens::Token;

/// If several phrases begin at a word, the longest counts.
#[derive(Debug)]
pub(super) struct Phrases<T> {
    by_first: FxHashMap<&'static str, Vec<(Vec<&'static str>, T)>>,
}

impl<T> Default for Phrases<T> {
    fn default() -> Self {
        Self {
            by_first: FxHashMap::default(),
        }
    }
}

impl<T> Phrases<T> {
    pub(super) fn add(&mut self, phrase: &'static str, meaning: T) {
        let words: Vec<&'static str> = phrase.split(' ').collect();
        let Some(first) = words.first() else { return };
        let of_first = self.by_first.entry(first).or_default();
        let longer = of_first.partition_point(|(other, _)| other.len() >= words.len());
        of_first.insert(longer, (words, meaning));
    }

    /// Returns the longest phrase at the start of the tokens, as its number of words and its meaning. Of equal phrases,
    /// the first added one counts.
    pub(super) fn at(&self, tokens: &[Token]) -> Option<(usize, &T)> {
        let of_first = self.by_first.get(tokens.first()?.word.as_str())?;
        let begins = |words: &[&str]| {
            let stand = tokens.get(..words.len());
            stand.is_some_and(|stand| {
                stand
                    .iter()
                    .zip(words)
                    .all(|(token, word)| token.is_free() && token.word == *word)
            })
        };
        let found = of_first.iter().find(|(words, _)| begins(words));
        found.map(|(words, meaning)| (words.len(), meaning))
    }

    /// Returns the phrases of one word whose meaning satisfies `is_meant`.
    pub(super) fn single(&self, is_meant: impl Fn(&T) -> bool) -> impl Iterator<Item = &'static str> {
        let all = self.by_first.values().flatten();
        let meant = all.filter(move |(words, meaning)| words.len() == 1 && is_meant(meaning));
        meant.filter_map(|(words, _)| words.first().copied())
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.by_first
            .values()
            .flatten()
            .flat_map(|(words, _)| words.iter().copied())
    }
}
