use std::ops::Range;

use super::tables::TABLES;
use super::words::Words;

/// Words between an occasion and the word that marks it as one.
const BETWEEN: [&str; 16] = [
    "the", "a", "an", "my", "our", "his", "her", "this", "next", "upcoming", "friend", "daily", "long", "mere", "meri",
    "summer",
];

/// Reads the first unambiguous occasion, else the first that its context marks as an occasion.
pub(super) fn read(words: &mut Words) -> Option<&'static str> {
    let occasions = words.find(&TABLES.occasions);
    // `baby shower` does not name a baby.
    occasions.iter().for_each(|(range, _)| words.take(range.clone()));
    let seasons = ["summer", "winter", "monsoon", "festival"];
    // In `party wear for summer wedding`, the celebration is more specific than the season.
    let celebrated = occasions.iter().find(|(_, name)| !seasons.contains(*name));
    if let Some((_, name)) = celebrated {
        return Some(name);
    }
    let uses = words.find(&TABLES.uses);
    let used = uses.iter().find(|(range, name)| is_use(words, range, name));
    used.or_else(|| occasions.first()).map(|(_, name)| **name)
}

fn is_use(words: &Words, range: &Range<usize>, name: &str) -> bool {
    let asks = ["for", "to", "during", "at"];
    let worn = [
        "wear",
        "wears",
        "outfit",
        "outfits",
        "look",
        "looks",
        "clothes",
        "attire",
        "dress",
        "dresses",
        "saree",
        "sarees",
        "gown",
        "gowns",
        "shorts",
        "pants",
        "trousers",
        "tights",
        "leggings",
        "shirt",
        "shirts",
        "kurta",
        "kurti",
        "suit",
        "ke",
        "k",
        "mein",
        "me",
        "wali",
        "wala",
        "wale",
        "pehnne",
        "के",
        "में",
    ];
    name == "daily"
        || words.is_before(range.start, 1, &asks)
        || words.is_before(range.start, 1, &BETWEEN) && words.is_before(range.start, 2, &asks)
        || words.is(range.end, &worn)
}
