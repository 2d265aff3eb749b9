use data_understanding::languages::is_foreign;

use super::index::TextIndex;
use super::term::QueryTerm;
use super::terms::{QueryTerms, TERMS_MAX};
use super::vocabulary::Near;

/// Word of the query that no product has, with the words searched instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// Word of the query.
    pub from: String,
    /// Replacement, which may be several words.
    pub to: String,
}

/// Minimum number of letters of each half of a split word.
const HALF_CHARS_MIN: usize = 3;

/// Shorter words are not corrected, because they are too similar to each other.
const CHARS_MIN: usize = 4;
/// Minimum length of a word that may be corrected by two edits. The first value is for corrections to a word in several
/// titles, and the second for corrections to any word.
const TWO_EDITS_CHARS_MIN: usize = 6;
const TWO_EDITS_ANY_CHARS_MIN: usize = 9;
/// Minimum number of titles with a less certain correction, for words of four letters, another first letter, or two
/// edits in a short word.
const TITLES_MIN: u32 = 3;
/// First letters are rarely mistyped. A correction with another first letter must be this many times as frequent as one
/// with the same.
const OTHER_FIRST_TIMES_MIN: u32 = 8;

/// Minimum number of letters that stemming removed from a word that may be a misspelling. One ending has fewer letters.
const ENDINGS_CHARS_MIN: usize = 4;
/// Minimum number of removed letters if the two words differ only in doubled letters.
const ENDING_CHARS_MIN: usize = 3;

/// Returns true if products have a word's stem only because of stemming, and the word is one edit away from a word with
/// another stem. For example, `earings` is a misspelling of earrings, but has the stem of ears.
pub(super) fn is_mistaken(index: &TextIndex, term: &QueryTerm) -> bool {
    let chars = |word: &str| word.chars().count();
    let ending = chars(&term.plain).saturating_sub(chars(&term.stemmed));
    if ending < ENDING_CHARS_MIN || index.vocabulary.count(&term.plain) > 0 {
        return false;
    }
    let near = Near {
        edits_max: 1,
        other_first: false,
        titles_min: 0,
    };
    let Some(meant) = index.vocabulary.nearest(&term.plain, near) else {
        return false;
    };
    let doubled = || singly(meant.trim_end_matches('s')).eq(singly(term.plain.trim_end_matches('s')));
    QueryTerm::of_word(meant, 0).stemmed != term.stemmed && (ending >= ENDINGS_CHARS_MIN || doubled())
}

/// Reduces double letters to one.
fn singly(word: &str) -> impl Iterator<Item = char> {
    let mut last = None;
    word.chars().filter(move |char| last.replace(*char) != Some(*char))
}

/// Corrects the words that no product has: words to be joined, mistyped letters, and words to be split. Common words
/// and anything with a digit are not corrected.
pub(super) fn mend(index: &TextIndex, terms: &QueryTerms, known: &[bool]) -> Option<(QueryTerms, Vec<Correction>)> {
    let mut mended: Vec<QueryTerm> = Vec::with_capacity(terms.len() + 2);
    let mut corrections = Vec::new();
    let mut words = terms.iter().zip(known).peekable();
    while let Some((term, known)) = words.next() {
        if let Some((next, next_known)) = words.peek()
            && !(*known && **next_known)
        {
            let joined = format!("{}{}", term.plain, next.plain);
            if index.vocabulary.count(&joined) > 0 {
                corrections.push(Correction {
                    from: format!("{} {}", term.plain, next.plain),
                    to: joined.clone(),
                });
                mended.push(QueryTerm::of_word(&joined, term.position));
                words.next();
                continue;
            }
        }
        let replaced = if *known { None } else { replacement(index, &term.plain) };
        match replaced {
            Some(replaced) => {
                corrections.push(Correction {
                    from: term.plain.clone(),
                    to: replaced.join(" "),
                });
                mended.extend(
                    (term.position..)
                        .zip(&replaced)
                        .map(|(position, word)| QueryTerm::of_word(word, position)),
                );
            }
            None => mended.push(term.clone()),
        }
    }
    (!corrections.is_empty()).then(|| (QueryTerms::from_terms(mended, TERMS_MAX), corrections))
}

/// A correction with one edit is likelier than one with two. Two joined words are likelier than a mistyped first
/// letter.
fn replacement(index: &TextIndex, word: &str) -> Option<Vec<String>> {
    let chars = word.chars().count();
    if chars < CHARS_MIN || !word.chars().all(char::is_alphabetic) {
        return None;
    }
    // A common word is not a misspelling, even if the catalogue lacks it. `powder` does not mean `power`.
    if data_embedding::is_word(word)
        || index.synonyms.is_word(word)
        || data_understanding::is_kept(word)
        || is_foreign(word)
    {
        return None;
    }
    let near = |edits_max, other_first, titles_min| {
        let near = Near {
            edits_max,
            other_first,
            titles_min,
        };
        index.vocabulary.nearest_counted(word, near)
    };
    let one = |(word, _): (&str, u32)| vec![word.to_owned()];
    let same_first = near(1, false, if chars == CHARS_MIN { TITLES_MIN } else { 0 });
    let other_first = near(1, true, TITLES_MIN);
    if let Some((same, count)) = same_first {
        let other = other_first.filter(|(_, other)| *other / OTHER_FIRST_TIMES_MIN > count && chars > CHARS_MIN);
        return Some(one(other.unwrap_or((same, count))));
    }
    let split = || {
        index
            .vocabulary
            .split(word, HALF_CHARS_MIN, |_| true)
            .map(|(one, other)| vec![one.to_owned(), other.to_owned()])
    };
    let two_edits = || match chars {
        TWO_EDITS_ANY_CHARS_MIN.. => near(2, false, 0),
        TWO_EDITS_CHARS_MIN.. => near(2, false, TITLES_MIN),
        _ => None,
    };
    split()
        .or_else(|| other_first.map(one))
        .or_else(|| two_edits().map(one))
}
