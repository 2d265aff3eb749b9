//! Parses single fields that callers provide.

use super::Audience;
use super::sizes;
use super::tables::TABLES;
use super::words::Words;
use crate::tokenizer;

/// Returns the colour, by its name in the tables, of a text that names nothing else.
#[must_use]
pub fn colour(text: &str) -> Option<&'static str> {
    let words = words(text);
    let found = words.find(&TABLES.colours);
    let (range, colour) = found.first()?;
    (range.len() == words.len()).then_some(*colour)
}

/// Returns the spellings of a colour in stores, which are its own names and those of its shades, such as `navy blue`.
#[must_use]
pub fn shades(colour: &str) -> Vec<&'static str> {
    let wanted: Vec<&str> = colour.split(' ').collect();
    let is_shade = |phrase: &str, of: &str| {
        of == colour
            || wanted.iter().all(|word| phrase.split(' ').any(|other| other == *word))
            || TABLES.shades.contains(&(colour, of))
    };
    let mut shades: Vec<&'static str> = TABLES
        .colour_phrases
        .iter()
        .filter(|(phrase, of)| is_shade(phrase, of))
        .map(|(phrase, _)| *phrase)
        .collect();
    shades.sort_unstable_by_key(|phrase| (*phrase != colour, *phrase));
    shades.dedup();
    shades
}

/// Returns `colour` if a store's text contains its name, else the text's colour if that is a shade of `colour`.
#[must_use]
pub fn colour_said(said: &str, colour: &'static str) -> Option<&'static str> {
    let words = words(said);
    let found = words.find(&TABLES.colours);
    let wanted: Vec<&str> = colour.split(' ').collect();
    let is_shade =
        |named: &str| named == colour || wanted.iter().all(|word| named.split(' ').any(|other| other == *word));
    let named = || found.iter().map(|(_, named)| **named);
    if named().any(is_shade) {
        return Some(colour);
    }
    named().find(|named| TABLES.shades.contains(&(colour, named)))
}

/// Returns the single words with which products state their audience.
pub fn audience_words(audience: Audience) -> impl Iterator<Item = &'static str> {
    let all = TABLES.audience_words.iter();
    all.filter(move |(_, of)| *of == audience).map(|(word, _)| *word)
}

/// Returns the size, as labels spell it, of a text that names nothing else.
#[must_use]
pub fn size(text: &str) -> Option<String> {
    let mut words = words(&format!("size {text}"));
    let sizes = sizes::read(&mut words);
    let is_all = (0..words.len()).all(|at| words.at(at).is_none());
    sizes.into_iter().next().filter(|_| is_all)
}

/// Returns the size facet values that equal `wanted`, a label of [`size`], in the spellings of most stores.
#[must_use]
pub fn size_values(wanted: &str) -> Vec<String> {
    let lower = wanted.to_lowercase();
    let mut spelled = vec![lower.clone(), format!("size {lower}")];
    let long = match lower.as_str() {
        "s" => "small",
        "m" => "medium",
        "l" => "large",
        "xl" => "extra large",
        "xs" => "extra small",
        "xxl" => "2xl",
        "xxxl" => "3xl",
        "free" => "free size",
        _ => "",
    };
    if !long.is_empty() {
        spelled.extend([
            long.to_owned(),
            format!("{long} ({lower})"),
            format!("{lower} ({long})"),
        ]);
    }
    if let Some((region, number)) = lower.split_once(' ') {
        spelled.extend([
            number.to_owned(),
            format!("{region}{number}"),
            format!("{region}-{number}"),
            format!("{number} {region}"),
        ]);
    } else if lower.starts_with(|char: char| char.is_ascii_digit()) {
        let regions = ["uk", "us", "eu", "ind"];
        spelled.extend(
            regions
                .iter()
                .flat_map(|region| [format!("{region} {lower}"), format!("{region}{lower}")]),
        );
    }
    spelled
}

/// Returns all numbers in a text in thousandths, including amounts in words.
#[must_use]
pub fn numbers(text: &str) -> Vec<u64> {
    let tokens = tokenizer::cut(&crate::numerals::in_digits(text));
    let numbers = tokens.iter().enumerate().filter_map(|(at, token)| {
        let times = tokens
            .get(at + 1)
            .and_then(|next| crate::tables::multiplier(&next.word));
        Some(token.number?.saturating_mul(times.unwrap_or(1)))
    });
    numbers.collect()
}

/// Returns the occasion in a text, by its name in the tables.
#[must_use]
pub fn occasion(text: &str) -> Option<&'static str> {
    let words = words(text);
    let found = words.find(&TABLES.occasions);
    found
        .first()
        .or(words.find(&TABLES.uses).first())
        .map(|(_, name)| **name)
}

/// Returns the occasions in a text, including ambiguous ones, by their names in the tables.
#[must_use]
pub fn occasions_named(text: &str) -> Vec<&'static str> {
    let words = words(text);
    let all = words
        .find(&TABLES.occasions)
        .into_iter()
        .chain(words.find(&TABLES.uses));
    all.map(|(_, name)| *name).collect()
}

/// Returns true if a text refuses anything.
#[must_use]
pub fn refuses(text: &str) -> bool {
    let tokens = tokenizer::cut(text);
    (0..tokens.len()).any(|at| crate::tables::TABLES.is_negation(tokens.get(at..).unwrap_or_default()))
}

/// Returns the colours in a text, including ambiguous ones.
#[must_use]
pub fn colours(text: &str) -> Vec<&'static str> {
    let words = words(text);
    words
        .find(&TABLES.colours)
        .into_iter()
        .map(|(_, colour)| *colour)
        .collect()
}

fn words(text: &str) -> Words {
    Words::of(&tokenizer::cut(text), std::iter::empty())
}

/// Returns the audience of every department in a text.
#[must_use]
pub fn audiences_named(text: &str) -> Vec<Audience> {
    let mut words = words(text);
    let nobody = words.find(&TABLES.nobody);
    nobody.into_iter().for_each(|(range, ())| words.take(range));
    words
        .find(&TABLES.audiences)
        .into_iter()
        .map(|(_, audience)| *audience)
        .collect()
}
