use data_index::Release;

use super::group::{GroupWord, TermGroup, TermVariant};
use super::index::TextIndex;
use super::score::as_float;
use super::term::QueryTerm;

/// Fewest letters that are taken for the beginning of a word.
const CHARS_MIN: usize = 3;
/// The same, where it stands behind other words that products must hold with it.
const CONTINUED_CHARS_MIN: usize = 2;
/// Most letters of a word that may be a beginning though people write it by itself: a cab is one, and a cabinet's.
const WORD_CHARS_MAX: usize = 4;
/// Such a word is a beginning where no more than one product in so many has it in its title, and so many times as many
/// have what it may become: a bra is no bracelet.
const CONTINUED_ONE_IN_MIN: f32 = 500.0;
const CONTINUED_TIMES_MIN: u32 = 8;
/// Most words that a beginning stands for; beyond, the rarest are left out.
const WORDS_MAX: usize = 32;

/// Fewest letters and digits that are taken for the beginning of a code.
const CODE_CHARS_MIN: usize = 5;

/// The words that the last word of a query may be the beginning of, where it is no word of the catalogue itself, and the
/// likeliest of them: who searches while typing has not come to its end. A word that is all there is may be shorter.
pub(super) fn complete(
    release: &Release,
    index: &TextIndex,
    last: &QueryTerm,
    is_alone: bool,
) -> Option<(String, TermGroup)> {
    let chars = last.plain.chars().count();
    if chars >= CODE_CHARS_MIN && last.plain.chars().any(|char| char.is_ascii_digit()) {
        return group(last, index.codes_beginning_with(release, &last.plain, WORDS_MAX));
    }
    if (chars < CHARS_MIN && !is_alone) || !last.plain.chars().all(char::is_alphabetic) {
        return None;
    }
    let words = index.vocabulary.beginning_with(&last.plain, WORDS_MAX);
    group(last, words.into_iter().map(str::to_owned).collect())
}

/// The last word of a query and the words that it may be the beginning of, where products hold it too, but none beside
/// the others; and the likeliest of these. A word that people write by itself is the beginning of much more usual words
/// alone, and a longer word of none.
pub(super) fn continued(index: &TextIndex, last: &QueryTerm, own: &TermGroup) -> Option<(String, TermGroup)> {
    let chars = last.plain.chars().count();
    if chars < CONTINUED_CHARS_MIN || !last.plain.chars().all(char::is_alphabetic) {
        return None;
    }
    let mut words = index.vocabulary.beginning_with(&last.plain, WORDS_MAX);
    if data_embedding::is_word(&last.plain) {
        let own = index.vocabulary.count(&last.plain);
        let is_rare = as_float(u64::from(own)) * CONTINUED_ONE_IN_MIN < index.docs;
        let is_beginning = |word: &str| index.vocabulary.count(word) / CONTINUED_TIMES_MIN > own;
        words.retain(|word| is_rare && chars <= WORD_CHARS_MAX && is_beginning(word));
    }
    let (likeliest, mut continued) = group(last, words.into_iter().map(str::to_owned).collect())?;
    continued.variants.splice(..0, own.variants.iter().cloned());
    Some((likeliest, continued))
}

fn group(last: &QueryTerm, words: Vec<String>) -> Option<(String, TermGroup)> {
    let variants = words.iter().map(|word| TermVariant {
        words: vec![GroupWord::of(&QueryTerm::of_word(word, last.position))],
        factor: 1.0,
        is_apart: false,
    });
    let variants = variants.collect();
    let likeliest = words.into_iter().next()?;
    Some((likeliest, TermGroup { variants }))
}
