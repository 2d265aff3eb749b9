//! Single fields, as others name them.

use super::Audience;
use super::sizes;
use super::tables::TABLES;
use super::words::Words;
use crate::tokenizer;

/// The colour that a text names, and nothing besides, as the tables call it.
#[must_use]
pub fn colour(text: &str) -> Option<&'static str> {
    let words = words(text);
    let found = words.find(&TABLES.colours);
    let (range, colour) = found.first()?;
    (range.len() == words.len()).then_some(*colour)
}

/// The ways in which stores may spell a colour: its own names, and those of its shades (`navy blue` is blue).
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

/// The colour that a store's text says, where it is this one or one of its shades: the colour that was asked for, where
/// the text has its name, else the shade's.
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

/// The words, each alone, by which products say for whom they are made.
pub fn audience_words(audience: Audience) -> impl Iterator<Item = &'static str> {
    let all = TABLES.audience_words.iter();
    all.filter(move |(_, of)| *of == audience).map(|(word, _)| *word)
}

/// The size that a text names, and nothing besides, as labels spell it.
#[must_use]
pub fn size(text: &str) -> Option<String> {
    let mut words = words(&format!("size {text}"));
    let sizes = sizes::read(&mut words);
    let is_all = (0..words.len()).all(|at| words.at(at).is_none());
    sizes.into_iter().next().filter(|_| is_all)
}

/// Values of the facet of sizes that are this one, a label as [`size`] spells it, in the ways that most stores write it.
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

/// Every number that a text states, amounts in words included, in hundredths.
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

/// The occasion that a text names, by the tables' name.
#[must_use]
pub fn occasion(text: &str) -> Option<&'static str> {
    let words = words(text);
    let found = words.find(&TABLES.occasions);
    found
        .first()
        .or(words.find(&TABLES.uses).first())
        .map(|(_, name)| **name)
}

/// Every occasion that a text names, sure or not, by the tables' names.
#[must_use]
pub fn occasions_named(text: &str) -> Vec<&'static str> {
    let words = words(text);
    let all = words
        .find(&TABLES.occasions)
        .into_iter()
        .chain(words.find(&TABLES.uses));
    all.map(|(_, name)| *name).collect()
}

/// True where a text refuses anything.
#[must_use]
pub fn refuses(text: &str) -> bool {
    let tokens = tokenizer::cut(text);
    (0..tokens.len()).any(|at| crate::tables::TABLES.is_negation(tokens.get(at..).unwrap_or_default()))
}

/// The colours that a text names, sure or not.
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

/// The people for whom a text says that something is made: every department that it names.
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
