use super::groups::{Alternative, Group, GroupWord};
use super::index::TextIndex;
use super::terms::QueryTerm;

/// Fewest letters that are taken for the beginning of a word.
const CHARS_MIN: usize = 3;
/// Most words that a beginning stands for; beyond, the rarest are left out.
const WORDS_MAX: usize = 32;

/// Fewest letters and digits that are taken for the beginning of a code.
const CODE_CHARS_MIN: usize = 5;

/// The words that the last word of a query may be the beginning of, where it is no word of the catalogue itself, and the
/// likeliest of them: who searches while typing has not come to its end.
pub(super) fn complete(index: &TextIndex, last: &QueryTerm) -> Option<(String, Group)> {
    let chars = last.plain.chars().count();
    if chars >= CODE_CHARS_MIN && last.plain.chars().any(|char| char.is_ascii_digit()) {
        return group(last, index.codes_beginning_with(&last.plain, WORDS_MAX));
    }
    if chars < CHARS_MIN || !last.plain.chars().all(char::is_alphabetic) {
        return None;
    }
    let words = index.vocabulary.beginning_with(&last.plain, WORDS_MAX);
    group(last, words.into_iter().map(str::to_owned).collect())
}

fn group(last: &QueryTerm, words: Vec<String>) -> Option<(String, Group)> {
    let alternatives = words.iter().map(|word| Alternative {
        words: vec![GroupWord::of(&QueryTerm::of_word(word, last.position))],
        factor: 1.0,
    });
    let alternatives = alternatives.collect();
    let likeliest = words.into_iter().next()?;
    Some((likeliest, Group { alternatives }))
}
