use std::ops::Range;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::units;

/// A query is cut after this many words: nobody means more, and each costs a posting list.
pub(super) const QUERY_WORDS_MAX: usize = 64;

/// Whether terms are made to be held or to be looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// All forms that a query may look for, several at one position.
    Index,
    /// One form a position.
    Query,
}

/// Cuts text into folded words; see the module's documentation.
#[derive(Debug, Clone)]
pub(super) struct Words {
    mode: Mode,
}

impl Words {
    pub(super) const fn new(mode: Mode) -> Self {
        Self { mode }
    }
}

/// A word as found, folded.
#[derive(Debug)]
struct Word {
    text: String,
    offsets: Range<usize>,
}

pub(super) struct WordStream {
    tokens: std::vec::IntoIter<Token>,
    token: Token,
}

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream {
        let limit = if self.mode == Mode::Query {
            QUERY_WORDS_MAX
        } else {
            usize::MAX
        };
        let words = split(text, limit);
        WordStream {
            tokens: Tokens {
                text,
                mode: self.mode,
                out: Vec::with_capacity(words.len()),
            }
            .of(&words),
            token: Token::default(),
        }
    }
}

impl TokenStream for WordStream {
    fn advance(&mut self) -> bool {
        self.tokens.next().is_some_and(|token| {
            self.token = token;
            true
        })
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

const fn is_apostrophe(char: char) -> bool {
    matches!(char, '\'' | '\u{2019}' | '\u{02bc}')
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || (!char.is_ascii() && is_combining_mark(char))
}

/// Words of letters, digits and marks; an apostrophe between letters and a decimal point or a thousands' comma
/// between digits do not end a word.
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
                    && next.is_some_and(|next| next.is_ascii_digit()));
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
    let kept = |char: &char| !is_apostrophe(*char) && *char != ',';
    word.nfkc().flat_map(char::to_lowercase).filter(kept).collect()
}

struct Tokens<'a> {
    text: &'a str,
    mode: Mode,
    out: Vec<Token>,
}

impl Tokens<'_> {
    fn of(mut self, words: &[Word]) -> std::vec::IntoIter<Token> {
        let (mut at, mut position) = (0, 0);
        while let Some(word) = words.get(at) {
            at += self.measure(word, words.get(at + 1), position).unwrap_or_else(|| {
                if self.mode == Mode::Index {
                    self.compound(words, at, position);
                }
                self.push(word.text.clone(), &word.offsets, position);
                1
            });
            position += 1;
        }
        self.out.into_iter()
    }

    /// A number with its unit, glued or apart; how many words it took.
    fn measure(&mut self, word: &Word, next: Option<&Word>, position: usize) -> Option<usize> {
        if !word.text.starts_with(|char: char| char.is_ascii_digit()) {
            return None;
        }
        if let Some((number, unit)) = units::glued(&word.text) {
            let term = format!("{}{unit}", units::canonical_number(number));
            self.push(term, &word.offsets, position);
            return Some(1);
        }
        let next = next.filter(|_| units::is_number(&word.text))?;
        let unit = units::apart(&next.text)?;
        let between = self.text.get(word.offsets.end..next.offsets.start)?;
        if between.len() > 2 || !between.chars().all(|char| char == ' ' || char == '-') {
            return None;
        }
        let term = format!("{}{unit}", units::canonical_number(&word.text));
        self.push(term, &(word.offsets.start..next.offsets.end), position);
        if self.mode == Mode::Index {
            self.push(word.text.clone(), &word.offsets, position);
            self.push(next.text.clone(), &next.offsets, position);
        }
        Some(2)
    }

    /// `tshirt` for `t-shirt`: the words from `at` that single hyphens join, up to three, in one piece.
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
        self.push(text, &offsets, position);
    }

    fn push(&mut self, text: String, offsets: &Range<usize>, position: usize) {
        self.out.push(Token {
            offset_from: offsets.start,
            offset_to: offsets.end,
            position,
            text,
            position_length: 1,
        });
    }
}
