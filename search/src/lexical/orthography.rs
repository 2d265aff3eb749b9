use super::group::{GroupWord, TermGroup, TermVariant};
use super::synonyms::Synonym;
use super::term::QueryTerm;
use super::terms::QueryTerms;

/// Weight of a match of the other spelling, relative to the word as written.
const FACTOR: f32 = 0.8;
/// Minimum number of letters before an ending with two spellings.
const BEFORE_CHARS_MIN: usize = 2;

/// British and American word endings. Any of [`TAILS`] may follow.
const ENDINGS: [(&str, &str); 7] = [
    ("our", "or"),
    ("is", "iz"),
    ("tre", "ter"),
    ("bre", "ber"),
    ("ogue", "og"),
    ("gramme", "gram"),
    ("ence", "ense"),
];
const TAILS: [&str; 14] = [
    "", "s", "e", "ed", "es", "er", "ers", "ery", "ing", "ings", "ite", "ites", "ful", "less",
];
/// Suffixes before which British English doubles an `l`.
const DOUBLED_BEFORE: [&str; 6] = ["ed", "er", "ers", "ery", "ing", "ings"];
/// Minimum number of letters before such an `l`, as in `travelled` and unlike `filled`.
const BEFORE_DOUBLED_CHARS_MIN: usize = 3;
/// British and American beginnings of words.
const BEGINNINGS: [(&str, &str); 9] = [
    ("grey", "gray"),
    ("mould", "mold"),
    ("plough", "plow"),
    ("tyre", "tire"),
    ("fibre", "fiber"),
    ("sulph", "sulf"),
    ("alumini", "alumin"),
    ("jewell", "jewel"),
    ("doughnut", "donut"),
];

/// Irregular plurals and their singulars, as whole words or word endings.
const IRREGULAR: [(&str, &str); 12] = [
    ("men", "man"),
    ("children", "child"),
    ("feet", "foot"),
    ("teeth", "tooth"),
    ("mice", "mouse"),
    ("geese", "goose"),
    ("people", "person"),
    ("dice", "die"),
    ("lice", "louse"),
    ("loaves", "loaf"),
    ("oxen", "ox"),
    ("jewellery", "jewelry"),
];
/// Plural endings, each with the singular ending.
const PLURALS: [(&str, &str); 3] = [("ves", "f"), ("ves", "fe"), ("ses", "s")];

/// Returns British or American spellings, of which some may be wrong, because the words of the catalogue decide.
fn others(word: &str) -> Vec<String> {
    let mut others = Vec::new();
    for (one, other) in BEGINNINGS {
        for (from, to) in [(one, other), (other, one)] {
            if let Some(rest) = word.strip_prefix(from) {
                others.push(format!("{to}{rest}"));
            }
        }
    }
    let mut ends = |tails: &[&str], (one, other): (&str, &str), chars_min: usize| {
        for tail in tails {
            for (from, to) in [(one, other), (other, one)] {
                let before = word.strip_suffix(tail).and_then(|whole| whole.strip_suffix(from));
                if let Some(before) = before.filter(|before| before.chars().count() >= chars_min) {
                    others.push(format!("{before}{to}{tail}"));
                }
            }
        }
    };
    ENDINGS
        .into_iter()
        .for_each(|ending| ends(&TAILS, ending, BEFORE_CHARS_MIN));
    ends(&DOUBLED_BEFORE, ("ll", "l"), BEFORE_DOUBLED_CHARS_MIN);
    PLURALS
        .into_iter()
        .for_each(|ending| ends(&[""], ending, BEFORE_CHARS_MIN));
    IRREGULAR.into_iter().for_each(|ending| ends(&[""], ending, 0));
    others
}

/// Returns true if titles have a word in another spelling or number.
pub(super) fn is_written(word: &str, is_titled: impl Fn(&str) -> bool) -> bool {
    others(word).iter().any(|other| is_titled(other))
}

/// Adds British spellings of American words and the reverse, and irregular plurals or singulars, if titles have them:
/// `fiber` for `fibre`, `scarf` for `scarves`. Returns the added spellings.
pub(super) fn add(terms: &QueryTerms, groups: &mut [TermGroup], is_titled: impl Fn(&str) -> bool) -> Vec<Synonym> {
    let mut added = Vec::new();
    for (term, group) in terms.iter().zip(groups) {
        for other in others(&term.plain).into_iter().filter(|other| is_titled(other)) {
            let word = GroupWord::of(&QueryTerm::of_word(&other, term.position));
            let is_there = |variant: &TermVariant| variant.words.iter().map(|word| &word.stem).eq([&word.stem]);
            if group.variants.iter().any(is_there) {
                continue;
            }
            group.variants.push(TermVariant {
                words: vec![word],
                factor: FACTOR,
                is_apart: false,
            });
            added.push(Synonym {
                of: term.plain.clone(),
                to: other,
            });
        }
    }
    added
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_other_side_of_the_atlantic_are_among_those_that_are_tried() {
        for (one, other) in [
            ("favourite", "favorite"),
            ("coloured", "colored"),
            ("centre", "center"),
            ("fibre", "fiber"),
            ("armour", "armor"),
            ("organiser", "organizer"),
            ("organising", "organizing"),
            ("mould", "mold"),
            ("jewellery", "jewelery"),
            ("travelling", "traveling"),
            ("catalogue", "catalog"),
            ("greyish", "grayish"),
            ("scarves", "scarf"),
            ("knives", "knife"),
            ("lenses", "lens"),
            ("buses", "bus"),
            ("women", "woman"),
            ("feet", "foot"),
            ("jewellery", "jewelry"),
        ] {
            assert!(others(one).contains(&other.to_owned()), "{one}: {:?}", others(one));
            assert!(others(other).contains(&one.to_owned()), "{other}: {:?}", others(other));
        }
        assert_eq!(others("kitchen"), Vec::<String>::new());
    }

    #[test]
    fn what_no_title_has_is_not_added() {
        let terms = QueryTerms::of("fibre centre", |_| true);
        let mut groups: Vec<TermGroup> = terms.iter().map(TermGroup::of).collect();
        let added = add(&terms, &mut groups, |word| word == "fiber");
        assert_eq!(added.len(), 1);
        assert_eq!((&*added[0].of, &*added[0].to), ("fibre", "fiber"));
        assert_eq!(
            groups.iter().map(|group| group.variants.len()).collect::<Vec<_>>(),
            [2, 1]
        );
    }
}
