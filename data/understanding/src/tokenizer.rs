//! Splits a text into words, numbers and signs.

use std::ops::Range;

use data_text::Numeral;

use super::tables;
use super::tokens::Token;

/// Longer numbers are no amounts. In thousandths.
const NUMBER_END: u64 = 1_000_000_000_000;
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
        if is_digit(char) {
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
            let begins = |char: char| is_digit(char) || SIGNS.contains(&char);
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
        let letters = word.find(is_digit).unwrap_or(word.len());
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

    /// Reads a number. The three decimals of a currency count if the text names it, as in `between 1.251 and 1.254 kwd`.
    /// A space groups digits only next to a currency: `1 299 €`, but `pack of 2 500 ml`.
    fn numeral(&self, from: usize) -> Numeral {
        let text = self.text.get(from..).unwrap_or_default();
        let of = |word: &str| tables::currency(&word.to_lowercase());
        let numeral = Numeral::at(text, false);
        let (written, rest) = text.split_at_checked(numeral.bytes).unwrap_or_default();
        let is_fine = written.contains([',', '.']) && {
            let mut words = self.text.split(|char: char| !char.is_alphabetic());
            words.any(|word| of(word).is_some_and(|currency| currency.exponent() == 3))
        };
        let is_money = self.tokens.last().is_some_and(is_money) || {
            let rest = rest.trim_start();
            let letters = rest.find(|char: char| !char.is_alphabetic()).unwrap_or(rest.len());
            let sign = rest.chars().next().map_or(0, char::len_utf8);
            of(rest.get(..letters.max(sign)).unwrap_or_default()).is_some()
        };
        let space = written.find(' ').filter(|_| !is_money).unwrap_or(text.len());
        let numeral = Numeral::at(text.get(..space).unwrap_or(text), is_fine);
        // An amount finer than its currency is unknown.
        let is_exact = is_fine || numeral.thousandths().is_none_or(|number| number % 10 == 0);
        Numeral {
            decimal: numeral.decimal.filter(|_| is_exact),
            ..numeral
        }
    }

    /// Reads a number with its suffix, which may be a factor or a currency. A token with other letters is a word.
    fn digits(&mut self, from: usize) -> usize {
        let numeral = self.numeral(from);
        let end = from + numeral.bytes;
        let after = self.word_end(end);
        let suffix = self.text.get(end..after).unwrap_or_default().to_lowercase();
        let number = numeral.thousandths().filter(|number| *number < NUMBER_END);
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
const fn is_digit(char: char) -> bool {
    matches!(char, '0'..='9' | '०'..='९')
}

/// Returns true for a currency and an amount, such as `Rs 1000` or `Rs.1000`.
fn is_money_ahead(text: &str) -> bool {
    let end = text.find(|char: char| !char.is_alphabetic()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let rest = rest.trim_start_matches(['.', ' ']);
    rest.starts_with(is_digit) && tables::currency(&word.to_lowercase()).is_some()
}

fn is_money(token: &Token) -> bool {
    tables::currency(&token.word).is_some()
}
