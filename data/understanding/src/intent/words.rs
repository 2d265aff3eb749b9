use std::ops::Range;

use crate::phrases::Phrases;
use crate::tokens::Token;

/// Tokens of a sentence in the spelling of the tables. Each can be consumed only once.
#[derive(Debug)]
pub(super) struct Words {
    tokens: Vec<Token>,
}

impl Words {
    pub(super) fn of(tokens: &[Token], taken: impl Iterator<Item = Range<usize>>) -> Self {
        let open = |token: &Token| Token {
            word: plain(&token.word),
            is_read: false,
            is_name: false,
            quote: None,
            ..token.clone()
        };
        let mut words = Self {
            tokens: tokens.iter().map(open).collect(),
        };
        taken.for_each(|range| words.take(range));
        words
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Returns `None` for a consumed word.
    pub(super) fn at(&self, at: usize) -> Option<&str> {
        let token = self.tokens.get(at).filter(|token| !token.is_read)?;
        Some(token.word.as_str())
    }

    /// Returns the word at a position, even if it has been consumed.
    pub(super) fn any_at(&self, at: usize) -> Option<&str> {
        self.tokens.get(at).map(|token| token.word.as_str())
    }

    pub(super) fn token(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at).filter(|token| !token.is_read)
    }

    /// Returns true if the word at a position is one of `words`, even if it has been consumed.
    pub(super) fn is(&self, at: usize, words: &[&str]) -> bool {
        self.any_at(at).is_some_and(|word| words.contains(&word))
    }

    /// Checks the word `back` positions before `at`, even if it has been consumed.
    pub(super) fn is_before(&self, at: usize, back: usize, words: &[&str]) -> bool {
        at.checked_sub(back).is_some_and(|at| self.is(at, words))
    }

    pub(super) fn take(&mut self, range: Range<usize>) {
        let taken = self.tokens.get_mut(range).unwrap_or_default();
        taken.iter_mut().for_each(|token| token.is_read = true);
    }

    /// Returns the phrases of a table that are in the sentence and not taken, in order.
    pub(super) fn find<'t, T>(&self, table: &'t Phrases<T>) -> Vec<(Range<usize>, &'t T)> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(rest) = self.tokens.get(at..).filter(|rest| !rest.is_empty()) {
            match table.at(rest) {
                Some((words, meaning)) => {
                    found.push((at..at + words, meaning));
                    at += words;
                }
                None => at += 1,
            }
        }
        found
    }
}

/// Removes a possessive ending, as in `women's` and `mothers’`.
pub(super) fn plain(word: &str) -> String {
    let word = word.replace('\u{2019}', "'");
    let own = word.strip_suffix("'s").or_else(|| word.strip_suffix('\''));
    own.unwrap_or(&word).to_owned()
}
