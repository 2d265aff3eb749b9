//! Splits a sentence into words, numbers and punctuation marks.

use data_text::Numeral;

use crate::numbers::in_words;
use crate::text::is_cross;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A word in lowercase, without accents.
    Word(String),
    /// A number in thousandths.
    Number(i64),
    /// A time such as `3:30`, in minutes after midnight.
    Clock(u16),
    Sign(char),
}

impl Token {
    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(crate) fn is(&self, sign: char) -> bool {
        *self == Self::Sign(sign)
    }
}

/// Maximum number of characters of a number.
const NUMBER_CHARS_MAX: usize = 40;
/// Maximum number of tokens of a sentence.
const TOKENS_MAX: usize = 200;

/// Splits a sentence of a store that sells in a currency with or without three decimals.
pub(crate) fn tokens(sentence: &str, has_three_decimals: bool) -> Vec<Token> {
    let folded: Vec<char> = sentence.chars().flat_map(char::to_lowercase).flat_map(plain).collect();
    let (mut tokens, mut at) = (Vec::new(), 0);
    while at < folded.len() && tokens.len() < TOKENS_MAX {
        let char = folded[at];
        if char.is_ascii_digit() {
            at = number(&folded, at, has_three_decimals, &mut tokens);
        } else if char.is_alphabetic() {
            at = word(&folded, at, &mut tokens);
        } else {
            // `non-metro` and `7-day` are two words each, and `3-5` is a range.
            let before = at.checked_sub(1).map_or(' ', |before| folded[before]);
            let is_next = |test: fn(char) -> bool| folded.get(at + 1).is_some_and(|next| test(*next));
            let joins = before.is_alphabetic() && is_next(char::is_alphanumeric);
            let joins = char == '-' && (joins || before.is_ascii_digit() && is_next(char::is_alphabetic));
            if !char.is_whitespace() && !joins && char != '\'' && char != '"' && char != '*' {
                // A cross as in `COD ❌` means "not".
                if is_cross(char) && !tokens.is_empty() {
                    tokens.extend(["not", "available"].map(|word| Token::Word(word.to_owned())));
                    at += 1;
                    continue;
                }
                let word = match char {
                    '>' | '≥' => "above",
                    '<' => "below",
                    '≤' => "upto",
                    _ => "",
                };
                if !word.is_empty() {
                    tokens.push(Token::Word(word.to_owned()));
                    at += 1;
                    continue;
                }
                tokens.push(Token::Sign(match char {
                    '–' | '—' | '−' | '‑' | '~' => '-',
                    '[' => '(',
                    ']' => ')',
                    '→' | '⇒' | '➔' => ':',
                    // `999+` is a bound, but `free shipping + COD` is two claims.
                    '+' if is_apart(&folded, at) => '&',
                    char => char,
                }));
            }
            at += 1;
        }
    }
    said_once(tokens)
}

/// Returns true if a punctuation mark is between spaces and before a word.
fn is_apart(text: &[char], at: usize) -> bool {
    let is_space = |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(|char| char.is_whitespace());
    is_space(at.checked_sub(1)) && is_space(Some(at + 1)) && text.get(at + 2).is_some_and(|char| char.is_alphabetic())
}

/// Merges numbers written both in words and digits: `5 (five)`, `twenty-one (21)`.
fn said_once(tokens: Vec<Token>) -> Vec<Token> {
    let is_count = |token: Option<&Token>| token.and_then(Token::word).is_some_and(|word| in_words(word).is_some());
    let mut out: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let ends = (at + 2..at + 4).find(|end| tokens.get(*end).is_some_and(|token| token.is(')')));
        if let (true, Some(end)) = (tokens[at].is('('), ends) {
            let is_words = matches!(out.last(), Some(Token::Number(_))) && is_count(tokens.get(at + 1));
            if let (true, Some(Token::Number(number)), 2) = (is_count(out.last()), tokens.get(at + 1), end - at) {
                while is_count(out.last()) {
                    out.pop();
                }
                out.push(Token::Number(*number));
                at = end + 1;
                continue;
            }
            if is_words {
                at = end + 1;
                continue;
            }
        }
        out.push(tokens[at].clone());
        at += 1;
    }
    out
}

fn number(text: &[char], from: usize, has_three_decimals: bool, out: &mut Vec<Token>) -> usize {
    let digit = |at: usize| text.get(at).is_some_and(char::is_ascii_digit);
    // No number of a sentence is longer.
    let ahead: String = text[from..].iter().take(NUMBER_CHARS_MAX).collect();
    let mut numeral = Numeral::at(&ahead, has_three_decimals);
    let space = ahead
        .find(' ')
        .filter(|at| *at < numeral.bytes && !is_money(text, from + ahead[..numeral.bytes].chars().count(), out));
    if let Some(space) = space {
        numeral = Numeral::at(&ahead[..space], has_three_decimals);
    }
    let written = ahead.get(..numeral.bytes).unwrap_or_default().to_owned();
    let mut to = from + written.chars().count();
    if text.get(to) == Some(&':') && digit(to + 1) && digit(to + 2) && !digit(to + 3) && to - from <= 2 {
        let minutes: String = text[to + 1..to + 3].iter().collect();
        if let (Ok(hour), Ok(minute)) = (written.parse::<u16>(), minutes.parse::<u16>())
            && hour < 24
            && minute < 60
        {
            out.push(Token::Clock(hour * 60 + minute));
            return to + 3;
        }
    }
    // `VH238H` is a name, but `Rs499` is an amount.
    let is_joined = from.checked_sub(1).is_some_and(|before| text[before].is_alphabetic());
    let is_name = is_joined && out.last().is_some_and(|last| mark(last).is_none());
    match numeral
        .thousandths()
        .and_then(|number| i64::try_from(number).ok())
        .filter(|_| !is_name)
    {
        Some(number) => out.push(Token::Number(number)),
        None => out.push(Token::Word(written)),
    }
    // Prices may end with `/-` or `,-`, as in `499/-` and `50,-`.
    if matches!(text.get(to), Some('/' | ',')) && text.get(to + 1) == Some(&'-') {
        out.push(Token::Sign('¤'));
        to += 2;
    }
    to
}

/// Returns true for a number with a currency before it, or behind it at `to`. Only there does a space group digits, as
/// in `1 299 €`.
fn is_money(text: &[char], to: usize, before: &[Token]) -> bool {
    let is_mark = |token: Option<&Token>| token.is_some_and(|token| mark(token).is_some());
    let behind = (to..text.len()).find(|at| !text[*at].is_whitespace());
    let mut next = Vec::new();
    if let Some(at) = behind {
        word(text, at, &mut next);
        next.push(Token::Sign(text[at]));
    }
    is_mark(before.last()) || is_mark(next.first())
}

fn word(text: &[char], from: usize, out: &mut Vec<Token>) -> usize {
    let mut word = String::new();
    let mut at = from;
    while let Some(char) = text.get(at) {
        let next = text.get(at + 1).is_some_and(|next| next.is_alphabetic());
        match char {
            char if char.is_alphabetic() => word.push(*char),
            // `l'order` is two words, but `don't` is one.
            '\'' if next && word.len() <= 2 && word != "i" => {
                at += 1;
                break;
            }
            // `'s` becomes a separate word, as in `the shipping's on us`.
            '\'' if text.get(at + 1) == Some(&'s') && text.get(at + 2).is_none_or(|after| !after.is_alphabetic()) => {
                at += 2;
                break;
            }
            '\'' if next => {}
            // `c.o.d` and `a.m.` are abbreviations and one word each.
            '.' if next && word.len() <= 3 && text.get(at + 2).is_none_or(|after| !after.is_alphabetic()) => {}
            _ => break,
        }
        at += 1;
    }
    if !word.is_empty() {
        out.push(Token::Word(word));
    }
    at.max(from + 1)
}

/// ISO 4217 currency codes that are not words of the supported languages.
const CODES: [&str; 36] = [
    "AED", "AUD", "BDT", "BHD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EGP", "HKD", "HUF", "IDR", "ILS", "JOD",
    "JPY", "KRW", "KWD", "LKR", "MXN", "MYR", "NOK", "NPR", "NZD", "OMR", "PHP", "PKR", "PLN", "QAR", "SEK", "SGD",
    "THB", "TWD", "VND", "ZAR",
];

/// Returns the currency mark of a token.
pub(crate) fn mark(token: &Token) -> Option<&'static str> {
    match token {
        Token::Sign('₹') => Some("INR"),
        Token::Sign('€') => Some("EUR"),
        Token::Sign('£') => Some("GBP"),
        Token::Sign('¥') => Some("¥"),
        Token::Sign('$') => Some("$"),
        Token::Sign('¤') => Some(""),
        Token::Word(word) => match word.as_str() {
            "rs" | "re" | "rupees" | "rupee" | "rupaye" | "rupaiye" | "rupay" => Some("Rs"),
            "inr" => Some("INR"),
            "eur" | "euro" | "euros" => Some("EUR"),
            "gbp" => Some("GBP"),
            "usd" | "dollars" => Some("USD"),
            "dirham" | "dirhams" => Some("AED"),
            "yen" => Some("JPY"),
            "yuan" | "rmb" => Some("CNY"),
            "ringgit" | "rm" => Some("MYR"),
            word => CODES.iter().copied().find(|code| code.eq_ignore_ascii_case(word)),
        },
        _ => None,
    }
}

/// Returns a letter without its accents.
fn plain(char: char) -> impl Iterator<Item = char> {
    let (one, other) = match char {
        'à' | 'á' | 'â' | 'ä' | 'ã' => ('a', None),
        'è' | 'é' | 'ê' | 'ë' => ('e', None),
        'ì' | 'í' | 'î' | 'ï' => ('i', None),
        'ò' | 'ó' | 'ô' | 'ö' | 'õ' => ('o', None),
        'ù' | 'ú' | 'û' | 'ü' => ('u', None),
        'ç' => ('c', None),
        'ñ' => ('n', None),
        'œ' => ('o', Some('e')),
        'ß' => ('s', Some('s')),
        '’' | '‘' | '`' => ('\'', None),
        '\u{307}' => (' ', None),
        other => (other, None),
    };
    std::iter::once(one).chain(other)
}
