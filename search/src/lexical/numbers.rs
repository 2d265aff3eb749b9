use super::group::{GroupWord, TermGroup, TermVariant};
use super::synonyms::Synonym;
use super::term::QueryTerm;
use super::terms::QueryTerms;

/// Weight of a match of the number, relative to its name.
const FACTOR: f32 = 0.8;

const NUMBERS: [(&str, &str); 14] = [
    ("one", "1"),
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("eleven", "11"),
    ("twelve", "12"),
    ("twenty", "20"),
    ("dozen", "12"),
];

/// Fractions of an inch, in the form of the index.
const PARTS: [(&str, &str); 2] = [("half", "0.5in"), ("quarter", "0.25in")];

/// Adds numbers to the number words before another word, such as `3` for `three` and `0.5in` for `half inch`. Returns
/// the added ones.
pub(super) fn add(terms: &QueryTerms, groups: &mut [TermGroup], is_held: impl Fn(&str) -> bool) -> Vec<Synonym> {
    let mut added = Vec::new();
    let terms: Vec<&QueryTerm> = terms.iter().collect();
    for (at, pair) in terms.windows(2).enumerate() {
        let [name, next] = pair else { continue };
        let inches = matches!(next.plain.as_str(), "inch" | "inches" | "in");
        let part = PARTS.iter().filter(|(part, _)| inches && *part == name.plain);
        let number = NUMBERS.iter().filter(|(number, _)| *number == name.plain);
        let Some((_, meant)) = part.chain(number).next().filter(|(_, meant)| is_held(meant)) else {
            continue;
        };
        let words = vec![GroupWord::of(&QueryTerm::of_word(meant, name.position))];
        let (of, taken) = if meant.ends_with("in") {
            (format!("{} {}", name.plain, next.plain), 2)
        } else {
            (name.plain.clone(), 1)
        };
        let to = (*meant).to_owned();
        added.push(Synonym { of, to });
        for group in groups.iter_mut().skip(at).take(taken) {
            group.variants.push(TermVariant {
                words: words.clone(),
                factor: FACTOR,
                is_apart: false,
            });
        }
    }
    added
}
