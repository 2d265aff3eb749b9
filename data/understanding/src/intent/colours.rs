use std::ops::Range;

use super::tables::TABLES;
use super::words::Words;

const COLOURS_MAX: usize = 6;

/// Words that occur only in Hinglish sentences.
const HINGLISH: [&str; 18] = [
    "ki", "ka", "ke", "se", "mein", "wali", "wala", "wale", "ya", "dikhao", "chahiye", "tak", "liye", "rang", "jo",
    "ek", "hai", "mujhe",
];

/// Returns the names in the tables.
pub(super) fn read(words: &mut Words) -> Vec<&'static str> {
    let things = words.find(&TABLES.things);
    things.into_iter().for_each(|(range, ())| words.take(range));
    let unsure: Vec<Range<usize>> = words.find(&TABLES.unsure).into_iter().map(|found| found.0).collect();
    let mut colours = Vec::new();
    let mut before = None;
    for (range, colour) in words.find(&TABLES.colours) {
        // In `blue or gold`, a word next to a colour is also a colour.
        let is_beside = before.is_some_and(|end: usize| {
            range.start == end || range.start == end + 1 && words.is(end, &["or", "and", "ya", "aur", "/", "&"])
        });
        if unsure.contains(&range) && !is_beside && !is_colour(words, &range) {
            continue;
        }
        before = Some(range.end);
        if !colours.contains(colour) && colours.len() < COLOURS_MAX {
            colours.push(*colour);
        }
        words.take(range);
    }
    colours
}

/// Returns the colour that continues the list before `at`, as in `and white`.
pub(super) fn also(words: &Words, at: usize) -> Option<(Range<usize>, &'static str)> {
    let goes_on = words.is(at, &["and", "or", "nor", "ya", "aur", "/", "&"]);
    let (range, colour) = words
        .find(&TABLES.colours)
        .into_iter()
        .find(|(range, _)| goes_on && range.start == at + 1)?;
    Some((at..range.end, colour))
}

/// Returns true if the context marks a word as a colour, as in `in olive` and `rust coloured`.
fn is_colour(words: &Words, range: &Range<usize>) -> bool {
    let named = [
        "colour",
        "color",
        "colours",
        "colors",
        "coloured",
        "colored",
        "rang",
        "rangon",
        "shade",
        "tone",
        "रंग",
    ];
    let of = ["ke", "ka", "ki"];
    // These words are names in English, and colours in a Hinglish sentence.
    let hindi = ["hari", "hara", "kali", "kale", "nila", "pila"];
    let is_hinglish = || (0..words.len()).any(|at| words.is(at, &HINGLISH));
    range.len() == 1 && words.is(range.start, &hindi) && is_hinglish()
        || words.is(range.end, &named)
        || words.is(range.end, &of) && words.is(range.end + 1, &named)
        || words.is_before(range.start, 1, &named)
        || words.is_before(range.start, 1, &["of", "in", "is"]) && words.is_before(range.start, 2, &named)
        || words.is_before(range.start, 1, &["in"])
}
