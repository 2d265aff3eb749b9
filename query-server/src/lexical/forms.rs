use super::groups::{Alternative, Group, GroupWord};
use super::index::TextIndex;
use super::synonyms::Synonym;
use super::terms::{QueryTerm, QueryTerms};

/// What a match of the other spelling is worth beside one of the query's own.
const FACTOR: f32 = 0.8;
/// Fewest letters of a word that may be two, and of each of the two.
const WORD_CHARS_MIN: usize = 6;
const HALF_CHARS_MIN: usize = 3;
/// Titles that hold a word before it is believed to be one.
const TITLES_MIN: u32 = 2;

/// Adds the spellings in one word and in two: `lightbulb` for `light bulb`, and `light bulb` for `lightbulb`; answers
/// those that it added.
pub(super) fn add(index: &TextIndex, terms: &QueryTerms, groups: &mut [Group]) -> Vec<Synonym> {
    let mut added = Vec::new();
    let terms: Vec<&QueryTerm> = terms.iter().collect();
    let letters = |term: &QueryTerm| term.plain.chars().all(char::is_alphabetic);
    for (at, pair) in terms.windows(2).enumerate() {
        let [one, other] = pair else { continue };
        if one.position + 1 != other.position || !letters(one) || !letters(other) {
            continue;
        }
        let joined = format!("{}{}", one.plain, other.plain);
        if index.vocabulary.count(&joined) < TITLES_MIN {
            continue;
        }
        let word = GroupWord::of(&QueryTerm::of_word(&joined, one.position));
        tell(
            &mut added,
            Synonym {
                of: format!("{} {}", one.plain, other.plain),
                to: joined,
            },
        );
        for group in groups.iter_mut().skip(at).take(2) {
            group.alternatives.push(Alternative {
                words: vec![word.clone()],
                factor: FACTOR,
            });
        }
    }
    for (term, group) in terms.iter().zip(groups) {
        if !letters(term) || term.plain.chars().count() < WORD_CHARS_MIN {
            continue;
        }
        if let Some((one, other)) = index.vocabulary.split(&term.plain, HALF_CHARS_MIN) {
            let to = format!("{one} {other}");
            let of = term.plain.clone();
            tell(&mut added, Synonym { of, to });
            let words = [one, other].map(|half| GroupWord::of(&QueryTerm::of_word(half, term.position)));
            group.alternatives.push(Alternative {
                words: words.into(),
                factor: FACTOR,
            });
        }
    }
    added
}

/// Takes note of a spelling once, however often the query has it.
pub(super) fn tell(added: &mut Vec<Synonym>, spelling: Synonym) {
    if !added.contains(&spelling) {
        added.push(spelling);
    }
}
