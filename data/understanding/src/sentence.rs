use std::ops::Range;

use super::tables::{Role, TABLES};
use super::tokenizer;
use super::tokens::Token;
use super::{Meaning, ParsedQuery, Part};

/// Minimum number of words of a text that is a sentence by its length.
const LONG_MIN: usize = 7;

#[derive(Debug)]
pub(super) struct Sentence<'a> {
    text: &'a str,
    pub(super) tokens: Vec<Token>,
    /// Role of each token. `None` for a search word.
    roles: Vec<Option<Role>>,
    /// Tokens and meaning of each part, and true if the words stay in the text.
    parts: Vec<(Range<usize>, Meaning, bool)>,
    /// Age of a person in the query, in months.
    pub(super) age: Option<u32>,
    /// True if the sentence continues another one, which names the product.
    pub(super) is_beside: bool,
}

impl<'a> Sentence<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let tokens = tokenizer::cut(text);
        let mut roles = vec![None; tokens.len()];
        let mut at = 0;
        while let Some(rest) = tokens.get(at..).filter(|rest| !rest.is_empty()) {
            let (words, role) = TABLES
                .roles
                .at(rest)
                .map_or((1, None), |(words, role)| (words, Some(*role)));
            roles.get_mut(at..at + words).unwrap_or_default().fill(role);
            at += words;
        }
        Self {
            text,
            tokens,
            roles,
            parts: Vec::new(),
            age: None,
            is_beside: false,
        }
    }

    /// Records the meaning of tokens and removes them from the text.
    pub(super) fn read(&mut self, tokens: Range<usize>, meaning: Meaning) {
        let read = self.tokens.get_mut(tokens.clone()).unwrap_or_default();
        read.iter_mut().for_each(|token| token.is_read = true);
        self.parts.push((tokens, meaning, false));
    }

    /// Records the meaning of tokens and keeps them in the text.
    pub(super) fn note(&mut self, tokens: Range<usize>, meaning: Meaning) {
        self.parts.push((tokens, meaning, true));
    }

    /// Removes the recorded age and returns its tokens.
    pub(super) fn take_age(&mut self) -> Option<Range<usize>> {
        let at = self
            .parts
            .iter()
            .position(|(_, meaning, _)| matches!(meaning, Meaning::Age(_)))?;
        Some(self.parts.remove(at).0)
    }

    /// The parts are in the order of the rules.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&Range<usize>, &Meaning)> {
        self.parts.iter().map(|(tokens, meaning, _)| (tokens, meaning))
    }

    pub(super) fn without(&self, gone: &[Range<usize>]) -> String {
        let mut left = String::with_capacity(self.text.len());
        let mut from = 0;
        for (at, token) in self.tokens.iter().enumerate() {
            if gone.iter().any(|range| range.contains(&at)) {
                left.push_str(self.text.get(from..token.at.start).unwrap_or_default());
                left.push(' ');
                from = token.at.end;
            }
        }
        left.push_str(self.text.get(from..).unwrap_or_default());
        left.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(super) fn role(&self, at: usize) -> Option<Role> {
        self.roles.get(at).copied().flatten()
    }

    /// Returns true for a search word that no rule has read.
    pub(super) fn is_content(&self, at: usize) -> bool {
        let token = self.tokens.get(at);
        token.is_some_and(|token| {
            let is_word = token.is_word() || token.number.is_some();
            !token.is_read && (token.quote.is_some() || token.is_name || self.role(at).is_none() && is_word)
        })
    }

    pub(super) fn content(&self) -> impl Iterator<Item = usize> {
        (0..self.tokens.len()).filter(|at| self.is_content(*at))
    }

    /// Returns true if there is a search word other than the refused tokens, here or in the sentence that this one
    /// continues.
    pub(super) fn says_more(&self, is_refused: impl Fn(usize) -> bool) -> bool {
        self.is_beside || self.content().any(|at| !is_refused(at))
    }

    pub(super) fn asks(&self) -> bool {
        self.roles.contains(&Some(Role::Ask))
    }

    /// Returns true if the text is long enough and has enough filler words for a sentence that is not a question.
    fn tells(&self) -> bool {
        let is_filler = |role: &&Option<Role>| matches!(role, Some(Role::Beside | Role::Stop));
        self.tokens.len() >= LONG_MIN && 3 * self.roles.iter().filter(is_filler).count() >= self.tokens.len()
    }

    /// Returns true for a question or a long sentence.
    pub(super) fn is_sentence(&self) -> bool {
        self.asks() || self.tells()
    }

    /// Returns true if a token is one of these words and no rule has read it.
    pub(super) fn is(&self, at: usize, words: &[&str]) -> bool {
        let token = self.tokens.get(at);
        token.is_some_and(|token| token.is_free() && words.contains(&token.word.as_str()))
    }

    pub(super) fn has_gift(&self) -> bool {
        (0..self.tokens.len()).any(|at| self.tokens.get(at..).is_some_and(|rest| TABLES.gift.at(rest).is_some()))
    }

    pub(super) fn is_for_somebody(&self) -> bool {
        self.parts().any(|(_, meaning)| meaning.is_of_somebody())
    }

    /// Returns true if any part implies categories.
    pub(super) fn tells_categories(&self) -> bool {
        let tells = |meaning: &Meaning| matches!(meaning, Meaning::Gift(_) | Meaning::Wear(_) | Meaning::Need(_));
        self.parts.iter().any(|(_, meaning, _)| tells(meaning))
    }

    pub(super) fn quotes(&mut self) {
        let quotes = self.tokens.iter().filter_map(|token| token.quote).max().unwrap_or(0);
        for quote in 1..=quotes {
            let is_of = |token: &Token| token.quote == Some(quote);
            let Some(start) = self.tokens.iter().position(is_of) else {
                continue;
            };
            let words = self.tokens.iter().filter(|token| is_of(token));
            let words: Vec<&str> = words.map(|token| token.word.as_str()).collect();
            let (end, phrase) = (start + words.len(), words.join(" "));
            self.note(start..end, Meaning::Phrase(phrase));
        }
    }

    /// Removes grammatical words if any search words remain.
    pub(super) fn grammar(&mut self) {
        if self.content().next().is_none() && !self.tells_categories() {
            return;
        }
        let has_recipient = self.parts().any(|(_, meaning)| *meaning == Meaning::Recipient);
        let asks = self.is_sentence() || has_recipient;
        let goes = |role| match role {
            Some(Role::Grammar) => true,
            Some(Role::Ask | Role::Beside) => asks,
            _ => false,
        };
        let mut at = 0;
        while at < self.tokens.len() {
            let is_out = |at: usize| {
                let token = self.tokens.get(at);
                goes(self.role(at)) && token.is_some_and(Token::is_free)
            };
            let end = (at..self.tokens.len())
                .find(|at| !is_out(*at))
                .unwrap_or(self.tokens.len());
            if end > at {
                self.read(at..end, Meaning::Asking);
            }
            at = end + 1;
        }
    }

    /// Returns the parts in text order, each with its text in `typed`. The parsed text was derived from `typed` via
    /// `made`. Positions in `made` and in the parsed text are the same.
    pub(super) fn parts_of(&self, typed: &str, made: &str) -> Vec<Part> {
        let mut parts: Vec<_> = self.parts().collect();
        parts.sort_by_key(|(tokens, _)| tokens.start);
        let part = |(tokens, meaning): (&Range<usize>, &Meaning)| Part {
            text: stretch(typed, made, self.bytes(tokens)).to_owned(),
            meaning: meaning.clone(),
        };
        parts.into_iter().map(part).collect()
    }

    /// Returns `None` if no part was read, or if nothing to search for would remain.
    pub(super) fn finish(mut self) -> Option<ParsedQuery> {
        let has_content = self.content().next().is_some();
        let narrows = |meaning: &Meaning| {
            matches!(
                meaning,
                Meaning::Price(_) | Meaning::OnSale | Meaning::InStock | Meaning::Order(_)
            )
        };
        let tells = self.tells_categories() || self.parts.iter().any(|(_, meaning, _)| narrows(meaning));
        if self.parts.is_empty() || !(has_content || tells) {
            return None;
        }
        self.parts.sort_by_key(|(tokens, ..)| tokens.start);
        let part = |(tokens, meaning, _): &(Range<usize>, Meaning, bool)| {
            let text = self.text.get(self.bytes(tokens)).unwrap_or_default().to_owned();
            Part {
                text,
                meaning: meaning.clone(),
            }
        };
        Some(ParsedQuery {
            text: if has_content { self.left() } else { String::new() },
            parts: self.parts.iter().map(part).collect(),
            audience: None,
            is_sentence: false,
        })
    }

    fn bytes(&self, tokens: &Range<usize>) -> Range<usize> {
        let start = self.tokens.get(tokens.start).map_or(0, |token| token.at.start);
        let last = tokens.end.checked_sub(1).and_then(|last| self.tokens.get(last));
        start..last.map_or(start, |token| token.at.end)
    }

    fn left(&self) -> String {
        if self.tokens.iter().all(|token| !token.is_read) {
            return self.text.to_owned();
        }
        let mut left = String::with_capacity(self.text.len());
        let mut from = 0;
        for token in self.tokens.iter().filter(|token| token.is_read) {
            left.push_str(self.text.get(from..token.at.start).unwrap_or_default());
            left.push(' ');
            from = token.at.end;
        }
        left.push_str(self.text.get(from..).unwrap_or_default());
        // Punctuation that joined removed words is dropped.
        let words = left
            .split_whitespace()
            .filter(|word| word.chars().any(char::is_alphanumeric));
        words.collect::<Vec<_>>().join(" ")
    }
}

/// Returns the text in `typed` for a range of `made`. If the two differ there, it is the whole differing stretch.
fn stretch<'a>(typed: &'a str, made: &str, at: Range<usize>) -> &'a str {
    let alike = |pairs: &mut dyn Iterator<Item = (u8, u8)>| pairs.take_while(|(one, other)| one == other).count();
    let before = alike(&mut typed.bytes().zip(made.bytes()));
    let (typed_rest, made_rest) = (&typed.as_bytes()[before..], &made.as_bytes()[before..]);
    let behind = alike(&mut typed_rest.iter().rev().copied().zip(made_rest.iter().rev().copied()));
    let start = if at.start <= before {
        at.start
    } else if made.len() - at.start <= behind {
        typed.len() - (made.len() - at.start)
    } else {
        before
    };
    let end = if at.end <= before {
        at.end
    } else {
        typed.len() - behind.min(made.len() - at.end)
    };
    typed
        .get(typed.floor_char_boundary(start)..typed.ceil_char_boundary(end))
        .unwrap_or_default()
        .trim()
}
