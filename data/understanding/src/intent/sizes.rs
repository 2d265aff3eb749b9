use data_model::Size;

use super::words::Words;
use crate::tokenizer;

const SIZES_MAX: usize = 6;
/// Largest number that can be a size of clothes or shoes, in thousandths.
const NUMBER_MAX: u64 = 60_000;

/// Sizes in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaidSizes {
    /// Sizes as labels spell them, such as `M`, `XXL`, `9` and `UK 9`.
    pub sizes: Vec<String>,
    /// Sizes as typed.
    pub text: String,
    /// Text without the sizes.
    pub left: String,
}

/// Returns the sizes that a text names together, next to other words. `None` for no sizes, or only sizes.
#[must_use]
pub fn said_sizes(text: &str) -> Option<SaidSizes> {
    let tokens = tokenizer::cut(text);
    if tokens.iter().any(|token| token.quote.is_some()) {
        return None;
    }
    let mut words = Words::of(&tokens, std::iter::empty());
    let sizes = read(&mut words);
    let is_size = |at: &usize| words.at(*at).is_none();
    let first = (0..tokens.len()).find(is_size)?;
    let last = (0..tokens.len()).rfind(is_size)?;
    if !(first..=last).all(|at| is_size(&at)) {
        return None;
    }
    let at = tokens.get(first)?.at.start..tokens.get(last)?.at.end;
    let (before, behind) = (text.get(..at.start)?, text.get(at.end..)?);
    let left = format!("{before} {behind}");
    left.contains(char::is_alphabetic).then(|| SaidSizes {
        sizes,
        text: text.get(at).unwrap_or_default().to_owned(),
        left: left.split_whitespace().collect::<Vec<_>>().join(" "),
    })
}

/// Returns the sizes, and the text with spaces in their place.
pub(super) fn taken_out(text: &str) -> (Vec<String>, String) {
    let tokens = tokenizer::cut(text);
    let mut words = Words::of(&tokens, std::iter::empty());
    let sizes = read(&mut words);
    let mut left = text.to_owned();
    for (at, token) in tokens.iter().enumerate() {
        // The spaces keep the positions of the words that follow.
        if words.at(at).is_none() {
            left.replace_range(token.at.clone(), &" ".repeat(token.at.len()));
        }
    }
    (sizes, left)
}

/// Reads the wanted sizes, as labels spell them, such as `M`, `XXL`, `9`, `UK 9`, `34B`, `FREE` and `QUEEN`.
pub(super) fn read(words: &mut Words) -> Vec<String> {
    let mut sizes: Vec<String> = Vec::new();
    let mut at = 0;
    while at < words.len() && sizes.len() < SIZES_MAX {
        let Some((size, end)) = size(words, at) else {
            at += 1;
            continue;
        };
        words.take(at - usize::from(words.is_before(at, 1, &["in"]))..end);
        let mut next = end;
        push(&mut sizes, size);
        // More sizes may follow in a list, as in `size 8 or 9`.
        while words.is(next, &["or", "ya", "/", "and", "aur"])
            && let Some((other, end)) = label(words, next + 1)
        {
            words.take(next..end);
            push(&mut sizes, other);
            next = end;
        }
        at = next;
    }
    sizes
}

fn push(sizes: &mut Vec<String>, size: String) {
    if !sizes.contains(&size) {
        sizes.push(size);
    }
}

/// Returns the label and the end of a size, with the words that mark it as one.
fn size(words: &Words, at: usize) -> Option<(String, usize)> {
    let word = words.at(at)?;
    // The letters of `H&M` are not sizes.
    if words.is_before(at, 1, &["&"]) {
        return None;
    }
    if matches!(word, "size" | "sizes" | "saiz" | "साइज") {
        let skipped = ["is", "of", "-", "no", "number", "in", "should", "be", "hai", "around"];
        let start = (at + 1..=at + 3).find(|at| !words.is(*at, &skipped))?;
        return label(words, start).or_else(|| named(words, start));
    }
    if word == "waist" {
        let start = at + 1 + usize::from(words.is(at + 1, &["size", "is", "of"]));
        return label(words, start);
    }
    if let Some(size) = letters(word).filter(|size| size.len() > 1) {
        return Some((size, end_behind(words, at + 1)));
    }
    if let Some(cup) = cup(word) {
        return Some((cup, end_behind(words, at + 1)));
    }
    let (label, end) = label(words, at).or_else(|| named(words, at))?;
    let is_region = label.contains(' ');
    let is_number = label.starts_with(|char: char| char.is_ascii_digit());
    // Words after a size can mark it, as in `M size`, `9 number ke joote` and `32 waist`.
    let is_said = words.is(end, &["size", "sizes", "saiz", "साइज", "waist"])
        || words.is(end, &["ka", "ki", "ke"]) && words.is(end + 1, &["size", "saiz"])
        || is_number && words.is(end, &["number", "nambar", "नंबर"])
        || is_number && words.is(end, &["inch", "inches"]) && words.is(end + 1, &["waist"]);
    if is_region || is_said {
        return Some((label, end_behind(words, end)));
    }
    // A letter is a size after `in`, or as a capital letter at the end.
    let is_letter = letters(word).is_some();
    let ends =
        end == words.len() || words.at(end).is_none() || words.is(end, &["for", "under", "and", "or", "only", "below"]);
    let is_in = words.is_before(at, 1, &["in", "mein"]) && (is_letter || ends);
    (is_in && !is_number || is_letter && end == words.len() && at > 0).then_some((label, end))
}

/// Returns the end of a size, with the words after it that only mark it.
fn end_behind(words: &Words, end: usize) -> usize {
    end + usize::from(words.is(end, &["size", "sizes", "saiz", "number", "nambar", "waist"]))
}

/// Returns the label of a size and its end. A size is letters, a number, or a number with a country.
fn label(words: &Words, at: usize) -> Option<(String, usize)> {
    let word = words.at(at)?;
    if let Some(size) = letters(word) {
        return Some((size, at + 1));
    }
    if let Some(cup) = cup(word) {
        return Some((cup, at + 1));
    }
    if matches!(word, "uk" | "us" | "eu" | "eur" | "ind" | "india") {
        let start = at + 1 + usize::from(words.is(at + 1, &["size", "-"]));
        let number = number(words, start)?;
        let region = match word {
            "eur" => "EU",
            "ind" | "india" => "IND",
            "uk" => "UK",
            "us" => "US",
            _ => "EU",
        };
        return Some((format!("{region} {number}"), start + 1));
    }
    number(words, at).map(|number| (number, at + 1))
}

fn named(words: &Words, at: usize) -> Option<(String, usize)> {
    let size = match words.at(at)? {
        "small" | "chhota" | "chota" => "S",
        "medium" => "M",
        "large" | "bada" => "L",
        "extra" | "xtra" => {
            let size = match words.at(at + 1)? {
                "small" => "XS",
                "large" => "XL",
                _ => return None,
            };
            return Some((size.to_owned(), at + 2));
        }
        "double" | "triple" if words.is(at + 1, &["xl"]) => {
            let size = if words.is(at, &["double"]) { "XXL" } else { "XXXL" };
            return Some((size.to_owned(), at + 2));
        }
        "free" => "FREE",
        "king" => "KING",
        "queen" => "QUEEN",
        "twin" => "TWIN",
        _ => return None,
    };
    Some((size.to_owned(), at + 1))
}

/// Returns the letters of a size as labels spell them, such as `M`, `XXL`, `XXXL` and `4XL`.
fn letters(word: &str) -> Option<String> {
    let label = Size::of_letters(word)?.to_string().to_uppercase();
    Some(if label == "3XL" { "XXXL".to_owned() } else { label })
}

/// Reads a bra size such as `34b`.
fn cup(word: &str) -> Option<String> {
    Size::of_cup(word).map(|size| size.to_string().to_uppercase())
}

/// Returns a number as labels spell it, such as `9` and `9.5`.
fn number(words: &Words, at: usize) -> Option<String> {
    let thousandths = words
        .token(at)?
        .number
        .filter(|number| *number > 0 && *number <= NUMBER_MAX)?;
    match thousandths % 1_000 {
        0 => Some((thousandths / 1_000).to_string()),
        500 => Some(format!("{}.5", thousandths / 1_000)),
        _ => None,
    }
}
