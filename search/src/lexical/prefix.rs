use data_index::Release;

use super::group::{GroupWord, TermGroup, TermVariant};
use super::index::TextIndex;
use super::score::as_float;
use super::term::QueryTerm;

/// Minimum number of letters of a word that is completed.
const CHARS_MIN: usize = 3;
/// Minimum number of letters of a word that is completed after other words.
const CONTINUED_CHARS_MIN: usize = 2;
/// Maximum number of letters of a common word that may still be a prefix. For example, `cab` may become `cabinet`.
const WORD_CHARS_MAX: usize = 4;
/// A common word is completed if at most one product in `CONTINUED_ONE_IN_MIN` has it in its title, and if the
/// completion is at least `CONTINUED_TIMES_MIN` times as common. Otherwise `bra` would be completed to `bracelet`.
const CONTINUED_ONE_IN_MIN: f32 = 500.0;
const CONTINUED_TIMES_MIN: u32 = 8;
/// Maximum number of completions of a prefix. The rarest ones are omitted.
const WORDS_MAX: usize = 32;

/// Minimum number of letters and digits of a code that is completed.
const CODE_CHARS_MIN: usize = 5;

/// Returns the completions of the last word of a query and the likeliest one, if no product has the word itself. Users
/// who search while typing have not finished the word. The minimum length does not apply to the only word of a query.
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

/// Returns the last word's completions and the likeliest one, if products have the word but none has all words of the
/// query. A common word is completed only if it is short, and only to much more common words.
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
