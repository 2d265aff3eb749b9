use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::word::Word;
use super::{quantity, units};
use crate::Numeral;

/// Maximum number of words of a query. Each further word would cost a posting list.
pub(super) const QUERY_WORDS_MAX: usize = 64;

/// Purpose of the terms: indexing, or querying.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// All forms that a query may look up, possibly several per position.
    Index,
    /// A query has one form per position.
    Query,
}

/// A word of a text, in one of its forms.
#[derive(Debug)]
pub struct Token {
    /// Text of the form.
    pub text: String,
    /// Position among the words of the text.
    pub position: usize,
    /// Byte range in the text.
    pub offsets: Range<usize>,
    /// True for the form that queries look up. The index has other forms at the same position.
    pub is_main: bool,
}

/// Splits text into folded words: see the documentation of the crate.
pub(super) fn tokens(mode: Mode, text: &str) -> Vec<Token> {
    let limit = if mode == Mode::Query {
        QUERY_WORDS_MAX
    } else {
        usize::MAX
    };
    let words = split(text, limit);
    let tokens = Tokens {
        text,
        mode,
        out: Vec::with_capacity(words.len()),
    };
    tokens.of(&words)
}

const fn is_apostrophe(char: char) -> bool {
    matches!(char, '\'' | '\u{2019}' | '\u{02bc}')
}

/// Multiplication sign between the sides of a size, often spelled `x`.
const TIMES: char = '\u{d7}';

/// Returns true for characters that affect only how letters are drawn.
const fn is_joiner(char: char) -> bool {
    matches!(char, '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == TIMES || (!char.is_ascii() && is_combining_mark(char) && !is_joiner(char))
}

/// Returns the runs of letters and digits of a text verbatim.
pub fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !char.is_alphanumeric())
        .filter(|run| !run.is_empty())
}

/// Splits a text into words of letters, digits and marks. Some characters do not end a word: an apostrophe between
/// letters, a decimal point or thousands separator between digits, the slash of a fraction, and joiners.
fn split(text: &str, limit: usize) -> Vec<Word> {
    let mut words = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, first)) = chars.next() {
        if !is_word(first) {
            continue;
        }
        let (mut end, mut last) = (start + first.len_utf8(), first);
        while let Some((at, char)) = chars.peek().copied() {
            let next = text.get(at + char.len_utf8()..).and_then(|rest| rest.chars().next());
            let joins = (is_apostrophe(char) && last.is_alphabetic() && next.is_some_and(char::is_alphabetic))
                || (matches!(char, '.' | ',')
                    && last.is_ascii_digit()
                    && next.is_some_and(|next| next.is_ascii_digit()))
                || (is_joiner(char) && next.is_some_and(is_word))
                || (char == '/' && quantity::fraction_at(text, start, at).is_some());
            if !is_word(char) && !joins {
                break;
            }
            chars.next();
            (end, last) = (at + char.len_utf8(), char);
        }
        let folded = fold(text.get(start..end).unwrap_or_default());
        if !folded.is_empty() {
            words.push(Word {
                text: folded,
                offsets: start..end,
            });
        }
        if words.len() >= limit {
            break;
        }
    }
    words
}

fn fold(word: &str) -> String {
    if word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return word.to_ascii_lowercase();
    }
    if let Some(number) = quantity::with_drawn_fraction(word) {
        return number;
    }
    // A point is decimal in every language of titles: `2.205 lb`.
    if word.starts_with(|char: char| char.is_ascii_digit()) && word.contains(',') {
        let numeral = Numeral::at(word, false);
        if let Some(decimal) = numeral.decimal {
            return decimal + &fold(word.get(numeral.bytes..).unwrap_or_default());
        }
    }
    let kept = |char: &char| !is_apostrophe(*char) && !is_joiner(*char) && *char != ',';
    let plain = |char| if char == TIMES { 'x' } else { char };
    word.nfkc()
        .flat_map(char::to_lowercase)
        .filter(kept)
        .map(plain)
        .collect()
}

struct Tokens<'a> {
    text: &'a str,
    mode: Mode,
    out: Vec<Token>,
}

impl Tokens<'_> {
    fn of(mut self, words: &[Word]) -> Vec<Token> {
        let (mut at, mut position) = (0, 0);
        while let Some(word) = words.get(at) {
            at += self.quantity(words, at, position).unwrap_or_else(|| {
                if self.mode == Mode::Index {
                    self.compound(words, at, position);
                }
                self.main(word.text.clone(), &word.offsets, position);
                self.dimensions(word, position);
                1
            });
            position += 1;
        }
        self.out
    }

    /// Adds a number, with its unit if it has one, and returns the number of words that it spans.
    fn quantity(&mut self, words: &[Word], at: usize, position: usize) -> Option<usize> {
        let found = quantity::read(self.text, words, at)?;
        let (first, last) = (words.get(at)?, words.get(at + found.words - 1)?);
        let term = format!("{}{}", found.number, found.unit.unwrap_or_default());
        let is_written_so = term == first.text && found.words == 1;
        self.main(term, &(first.offsets.start..last.offsets.end), position);
        if self.mode == Mode::Index {
            if found.unit.is_some() {
                self.extra(found.number.clone(), first, position);
            }
            if !is_written_so && found.words > 1 {
                for word in words.get(at..at + found.words).unwrap_or_default() {
                    if word.text != found.number && !word.text.contains('/') {
                        self.extra(word.text.clone(), word, position);
                    }
                }
            }
            // `12 in. x 24 in.` also gives `12x24`.
            let next = at + found.words;
            if words.get(next).is_some_and(|by| by.text == "x")
                && let Some(other) = quantity::read(self.text, words, next + 1)
            {
                self.extra(format!("{}x{}", found.number, other.number), first, position);
            }
        }
        Some(found.words)
    }

    fn dimensions(&mut self, word: &Word, position: usize) {
        if self.mode == Mode::Query || !word.text.starts_with(|char: char| char.is_ascii_digit()) {
            return;
        }
        let sides = word.text.split('x');
        if word.text.contains('x') && sides.clone().count() <= 3 && sides.clone().all(units::is_number) {
            sides.for_each(|side| self.extra(side.to_owned(), word, position));
        }
    }

    /// `t-shirt` also gives `tshirt`: up to three words from `at` with single hyphens between them become one word.
    fn compound(&mut self, words: &[Word], at: usize, position: usize) {
        let hyphen = |left: &Word, right: &Word| self.text.get(left.offsets.end..right.offsets.start) == Some("-");
        let starts = at == 0
            || !words
                .get(at - 1..=at)
                .is_some_and(|pair| pair.windows(2).any(|pair| hyphen(&pair[0], &pair[1])));
        let rest = words.get(at..).unwrap_or_default();
        let joined = 1 + rest
            .windows(2)
            .take_while(|pair| hyphen(&pair[0], &pair[1]))
            .take(3)
            .count();
        if !starts || !(2..=3).contains(&joined) {
            return;
        }
        let parts = rest.get(..joined).unwrap_or_default();
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
            return;
        };
        let text: String = parts.iter().map(|word| word.text.as_str()).collect();
        let offsets = first.offsets.start..last.offsets.end;
        self.push(text, &offsets, position, false);
    }

    fn main(&mut self, text: String, offsets: &Range<usize>, position: usize) {
        self.push(text, offsets, position, true);
    }

    fn extra(&mut self, text: String, word: &Word, position: usize) {
        self.push(text, &word.offsets, position, false);
    }

    fn push(&mut self, text: String, offsets: &Range<usize>, position: usize, is_main: bool) {
        self.out.push(Token {
            text,
            position,
            offsets: offsets.clone(),
            is_main,
        });
    }
}
