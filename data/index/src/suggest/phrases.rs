use std::ops::RangeInclusive;

use data_text::{Analysis, Term, analyse};

pub(super) const WORDS_MAX: usize = 3;
/// Permitted number of words of a name, and its maximum length in bytes.
const NAME_WORDS: RangeInclusive<usize> = 1..=5;
const NAME_BYTES_MAX: usize = 60;
/// Maximum length of a word in bytes. Users do not search for longer words.
const WORD_BYTES_MAX: usize = 40;
/// Maximum length of a word with digits, in bytes. Longer words with digits are codes.
const MODEL_BYTES_MAX: usize = 5;

/// Words with which no phrase of a title begins or ends.
const STOP_WORDS: [&str; 34] = [
    "a", "an", "and", "are", "as", "at", "by", "for", "from", "has", "in", "into", "is", "it", "its", "new", "no",
    "not", "of", "on", "or", "our", "per", "pcs", "set", "that", "the", "this", "to", "under", "with", "without", "x",
    "your",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) key: String,
    pub(super) shown: String,
    pub(super) digits: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    Space,
    /// The words have a hyphen between them, as in `t-shirt`.
    Hyphen,
    /// The separator ends a phrase.
    Break,
}

fn between(text: &str, left: &Term, right: &Term) -> Between {
    match text.get(left.offsets.end..right.offsets.start) {
        Some("-") => Between::Hyphen,
        Some(" " | " & " | "'") => Between::Space,
        _ => Between::Break,
    }
}

fn has_digits(word: &str) -> bool {
    word.chars().any(char::is_numeric)
}

pub(super) fn is_grammar(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// Returns true if a word is meaningful on its own. A single character may be meaningful only in scripts with one
/// character per word.
fn says_something(word: &str) -> bool {
    word.len() > 1 && word.len() <= WORD_BYTES_MAX
}

/// Finds the phrases of a title: one to three adjacent words that neither begin nor end with a stop word.
pub(super) fn of_title(title: &str, mut each: impl FnMut(&[Term], Text)) {
    let terms = analyse(Analysis::Plain, title);
    for start in 0..terms.len() {
        for end in start + 1..=terms.len().min(start + WORDS_MAX) {
            let Some(words) = terms.get(start..end) else { break };
            if words
                .windows(2)
                .any(|pair| between(title, &pair[0], &pair[1]) == Between::Break)
            {
                break;
            }
            if fit(title, &terms, start, words)
                && let Some(text) = shown(title, words)
            {
                each(words, text);
            }
        }
    }
}

fn fit(title: &str, terms: &[Term], start: usize, words: &[Term]) -> bool {
    let (Some(first), Some(last)) = (words.first(), words.last()) else {
        return false;
    };
    let joined = |at: usize| {
        let pair = terms.get(at..).and_then(|rest| rest.first_chunk::<2>());
        pair.is_some_and(|[left, right]| between(title, left, right) == Between::Hyphen)
    };
    let end = start + words.len();
    // Half of a hyphenated word such as `t-shirt` is not a phrase.
    let torn = start.checked_sub(1).is_some_and(joined) || joined(end - 1);
    let grammar = |term: &Term| is_grammar(&term.text);
    let letter = |at: usize, term: &Term| !says_something(&term.text) && !joined(at);
    if torn || grammar(first) || grammar(last) || letter(start, first) || has_digits(&first.text) {
        return false;
    }
    let code = |term: &Term| {
        let lone_number = term.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        has_digits(&term.text) && (lone_number || term.text.len() > MODEL_BYTES_MAX)
    };
    let alone = words.len() == 1 && first.text.chars().count() < 3 && first.text.is_ascii();
    // `by` separates a product from its maker.
    let makers = words.iter().any(|word| word.text == "by");
    !alone && !makers && says_something(&last.text) && !words.iter().any(code)
}

fn shown(text: &str, words: &[Term]) -> Option<Text> {
    let (first, last) = (words.first()?, words.last()?);
    let shown = text.get(first.offsets.start..last.offsets.end)?.to_lowercase();
    Some(Text {
        key: key_of(words),
        shown: shown.split_whitespace().collect::<Vec<_>>().join(" "),
        digits: words.iter().any(|word| has_digits(&word.text)),
    })
}

fn key_of(words: &[Term]) -> String {
    words
        .iter()
        .map(|word| word.text.as_str())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the whole name of a category, a brand or a product type as a phrase.
pub(super) fn of_name(name: &str) -> Option<Text> {
    let words = analyse(Analysis::Plain, name);
    let text = shown(name, &words)?;
    let letters = text.key.chars().any(char::is_alphabetic);
    let long = text.key.len() > NAME_BYTES_MAX || text.shown.len() > 2 * NAME_BYTES_MAX;
    (NAME_WORDS.contains(&words.len()) && letters && !long).then_some(text)
}

/// Returns the last segment of a product type as a phrase, unless the segment is a code.
pub(super) fn of_product_type(product_type: &str) -> Option<Text> {
    let last = product_type
        .rsplit(['>', '/', '|'])
        .find(|part| !part.trim().is_empty())?;
    of_name(last).filter(|text| !text.digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(title: &str) -> Vec<String> {
        let mut found = Vec::new();
        of_title(title, |_, text| {
            found.push(format!("{}{}", text.shown, if text.digits { "?" } else { "" }))
        });
        found
    }

    #[test]
    fn a_title_gives_its_words_that_stand_together() {
        assert_eq!(
            shown("Vienna Roast Coffee"),
            [
                "vienna",
                "vienna roast",
                "vienna roast coffee",
                "roast",
                "roast coffee",
                "coffee"
            ]
        );
        assert_eq!(shown("Café Apron — ग्रीन"), ["café", "café apron", "apron", "ग्रीन"]);
        assert_eq!(shown("Mug, Blue"), ["mug", "blue"]);
        assert_eq!(shown("Tea by Aarohi"), ["tea", "aarohi"]);
    }

    #[test]
    fn grammar_numbers_and_codes_are_no_phrases() {
        assert_eq!(shown("The Shirt of the Year"), ["shirt", "year"]);
        assert_eq!(
            shown("Paper Filter 100 pcs"),
            [
                "paper",
                "paper filter",
                "paper filter 100 pcs?",
                "filter",
                "filter 100 pcs?"
            ]
        );
        assert_eq!(shown("SKU-99812 B07XJ8C8F5 40"), [] as [&str; 0]);
        assert_eq!(shown("Dripper V60"), ["dripper", "dripper v60?"]);
        assert_eq!(shown("T-Shirt Red"), ["t-shirt", "t-shirt red", "red"]);
        assert_eq!(shown("!!! 💥"), [] as [&str; 0]);
    }

    #[test]
    fn names_are_phrases_as_a_whole() {
        let name = of_name("Loom & Thread").unwrap();
        assert_eq!(
            (name.key.as_str(), name.shown.as_str()),
            ("loom thread", "loom & thread")
        );
        assert_eq!(of_product_type("Apparel > Men / Shirts").unwrap().shown, "shirts");
        assert_eq!(of_product_type("SKU-99812"), None);
        assert_eq!(of_name("12 34"), None);
        assert_eq!(of_name("one two three four five six"), None);
    }
}
