//! Splits a text into words, numbers and signs.

use std::ops::Range;

use super::tables;
use super::tokens::Token;

/// Maximum number of digits of an amount.
const DIGITS_MAX: usize = 9;
const QUOTES: [char; 5] = ['"', '\u{201c}', '\u{201d}', '\u{201e}', '\u{ff02}'];
const SIGNS: [char; 12] = ['₹', '$', '€', '£', '¥', '৳', '<', '>', '=', '@', '&', '+'];
const HYPHENS: [char; 4] = ['-', '\u{2010}', '\u{2013}', '\u{2014}'];

fn is_of_word(char: char) -> bool {
    // Indian vowel signs are not letters, but occur within words.
    char.is_alphanumeric() || (!char.is_ascii() && !char.is_whitespace() && !is_mark(char))
}

fn is_mark(char: char) -> bool {
    QUOTES.contains(&char)
        || SIGNS.contains(&char)
        || HYPHENS.contains(&char)
        || matches!(char, '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{303f}' | '\u{a0}'..='\u{bf}' | '×' | '।' | '™' | '\u{ff00}'..='\u{ff0f}')
}

/// A quotation mark without a closing one is ignored.
pub(super) fn cut(text: &str) -> Vec<Token> {
    let mut cutter = Cutter {
        text,
        tokens: Vec::with_capacity(12),
    };
    let mut at = 0;
    let (mut quoted_until, mut quotes) = (0, 0);
    while let Some(char) = cutter.char(at) {
        let next = at + char.len_utf8();
        if QUOTES.contains(&char) {
            let close = text.get(next..).and_then(|rest| rest.find(QUOTES));
            if let Some(close) = close.filter(|_| next > quoted_until) {
                quoted_until = next + close;
                quotes += 1;
            }
            at = next;
            continue;
        }
        let from = cutter.tokens.len();
        at = cutter.one(at, char);
        for token in cutter.tokens.iter_mut().skip(from) {
            token.quote = (token.at.start < quoted_until).then_some(quotes);
        }
    }
    cutter.tokens
}

struct Cutter<'a> {
    text: &'a str,
    tokens: Vec<Token>,
}

impl<'a> Cutter<'a> {
    fn char(&self, at: usize) -> Option<char> {
        self.text.get(at..).and_then(|rest| rest.chars().next())
    }

    fn before(&self, at: usize) -> Option<char> {
        self.text.get(..at).and_then(|before| before.chars().next_back())
    }

    fn push(&mut self, at: Range<usize>, number: Option<u64>) {
        let text = self.text.get(at.clone()).unwrap_or_default();
        let hyphen = self.before(at.start).filter(|char| HYPHENS.contains(char));
        let before = hyphen.and_then(|char| self.before(at.start - char.len_utf8()));
        let is_minus = hyphen == Some('-') && before.is_none_or(char::is_whitespace) && number.is_none();
        self.tokens.push(Token {
            word: text.to_lowercase(),
            number,
            is_minus,
            is_joined: hyphen.is_some() && before.is_some_and(is_of_word),
            quote: None,
            is_read: false,
            is_name: false,
            // The token includes the hyphen.
            at: if is_minus { at.start - 1..at.end } else { at },
        });
    }

    /// Reads the token at a character and returns the next position.
    fn one(&mut self, at: usize, char: char) -> usize {
        let next = at + char.len_utf8();
        if digit(char).is_some() {
            return self.digits(at);
        }
        if SIGNS.contains(&char) {
            let end = if matches!(char, '<' | '>') && self.char(next) == Some('=') {
                next + 1
            } else {
                next
            };
            self.push(at..end, None);
            return end;
        }
        if HYPHENS.contains(&char)
            && self
                .tokens
                .last()
                .is_some_and(|token| token.number.is_some() || is_money(token))
        {
            // Between two amounts, a hyphen marks a range.
            let rest = self.text.get(next..).unwrap_or_default().trim_start();
            let begins = |char: char| digit(char).is_some() || SIGNS.contains(&char);
            if rest.starts_with(begins) || is_money_ahead(rest) {
                self.push(at..next, None);
                // Dashes of any length become `-`.
                self.tokens
                    .iter_mut()
                    .next_back()
                    .into_iter()
                    .for_each(|token| "-".clone_into(&mut token.word));
            }
            return next;
        }
        if !is_of_word(char) {
            return next;
        }
        let end = self.word_end(at);
        let word = self.text.get(at..end).unwrap_or_default();
        // A currency may be directly before an amount, as in `rs500`.
        let letters = word.find(|char: char| digit(char).is_some()).unwrap_or(word.len());
        let money = word.get(..letters).unwrap_or_default();
        if letters < word.len() && tables::currency(&money.to_lowercase()).is_some() {
            self.push(at..at + letters, None);
            return at + letters;
        }
        self.push(at..end, None);
        end
    }

    fn word_end(&self, from: usize) -> usize {
        let mut end = from;
        while let Some(char) = self.char(end) {
            let next = end + char.len_utf8();
            let is_within = matches!(char, '\'' | '\u{2019}') && self.char(next).is_some_and(char::is_alphabetic);
            if !is_of_word(char) && !is_within {
                break;
            }
            end = next;
        }
        end
    }

    /// Reads a number with its suffix, which may be a factor or a currency. A token with other letters is a word.
    fn digits(&mut self, from: usize) -> usize {
        let mut end = from;
        let (mut hundredths, mut digits, mut fraction) = (0_u64, 0, None::<u32>);
        while let Some(char) = self.char(end) {
            let follows = self.char(end + 1).and_then(digit).is_some();
            match (char, digit(char)) {
                (_, Some(digit)) if fraction.is_none_or(|places| places < 2) => {
                    hundredths = hundredths.saturating_mul(10).saturating_add(digit);
                    fraction = fraction.map(|places| places + 1);
                    digits += 1;
                }
                (_, Some(_)) => {}
                (',', _) if follows && fraction.is_none() => {}
                ('.', _) if follows && fraction.is_none() => fraction = Some(0),
                _ => break,
            }
            end += char.len_utf8();
        }
        let hundredths = hundredths.saturating_mul(10_u64.pow(2 - fraction.unwrap_or(0).min(2)));
        let after = self.word_end(end);
        let suffix = self.text.get(end..after).unwrap_or_default().to_lowercase();
        let number = Some(hundredths).filter(|_| digits <= DIGITS_MAX);
        let times = tables::multiplier(&suffix).filter(|_| !suffix.is_empty());
        if let Some(times) = times {
            self.push(from..after, number.map(|number| number.saturating_mul(times)));
            return after;
        }
        if suffix.is_empty() || tables::currency(&suffix).is_some() || tables::is_age_unit(&suffix) {
            self.push(from..end, number);
            // Indian prices may end with a dash, as in `500/-`.
            let is_dashed = self.text.get(end..).is_some_and(|rest| rest.starts_with("/-"));
            return if is_dashed { end + 2 } else { end };
        }
        self.push(from..after, None);
        after
    }
}

/// Accepts Latin and Devanagari digits.
fn digit(char: char) -> Option<u64> {
    match char {
        '0'..='9' => Some(u64::from(char) - u64::from('0')),
        '०'..='९' => Some(u64::from(char) - u64::from('०')),
        _ => None,
    }
}

/// Returns true for a currency and an amount, such as `Rs 1000` or `Rs.1000`.
fn is_money_ahead(text: &str) -> bool {
    let end = text.find(|char: char| !char.is_alphabetic()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let rest = rest.trim_start_matches(['.', ' ']);
    rest.starts_with(|char| digit(char).is_some()) && tables::currency(&word.to_lowercase()).is_some()
}

fn is_money(token: &Token) -> bool {
    tables::currency(&token.word).is_some()
}
