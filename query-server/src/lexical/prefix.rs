use super::groups::{Alternative, Group, GroupWord};
use super::index::TextIndex;
use super::terms::QueryTerm;

/// Fewest letters that are taken for the beginning of a word.
const CHARS_MIN: usize = 3;
/// Most words that a beginning stands for; beyond, the rarest are left out.
const WORDS_MAX: usize = 32;

/// The words that the last word of a query may be the beginning of, where it is no word of the catalogue itself: who
/// searches while typing has not come to its end.
pub(super) fn complete(index: &TextIndex, last: &QueryTerm) -> Option<Group> {
    if last.plain.chars().count() < CHARS_MIN || !last.plain.chars().all(char::is_alphabetic) {
        return None;
    }
    let words = index.vocabulary.beginning_with(&last.plain, WORDS_MAX);
    let alternatives: Vec<Alternative> = words
        .iter()
        .map(|word| Alternative {
            words: vec![GroupWord::of(&QueryTerm::of_word(word, last.position))],
            factor: 1.0,
        })
        .collect();
    (!alternatives.is_empty()).then_some(Group { alternatives })
}
