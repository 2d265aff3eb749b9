use data_understanding::languages::is_foreign;

use super::index::TextIndex;
use super::term::QueryTerm;
use super::terms::{QueryTerms, TERMS_MAX};
use super::vocabulary::Near;

/// A word of the query that no product holds, and the words that were looked for instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// The word of the query.
    pub from: String,
    /// The other.
    pub to: String,
}

/// Shortest halves of a word that is taken apart.
const HALF_CHARS_MIN: usize = 3;

/// Fewest letters of a word that is corrected: shorter ones are too near to each other.
const CHARS_MIN: usize = 4;
/// Fewest letters of a word that may be two edits away from the word that was meant, and of one that may be so from any
/// word.
const TWO_EDITS_CHARS_MIN: usize = 6;
const TWO_EDITS_ANY_CHARS_MIN: usize = 9;
/// Titles that hold what is meant by a word that is less like it than is usual: of four letters, of another first letter,
/// or two edits away though it is short.
const TITLES_MIN: u32 = 3;
/// The first letter is hardly ever mistyped: another word that begins with it is meant, unless one that does not is so
/// many times as frequent.
const OTHER_FIRST_TIMES_MIN: u32 = 8;

/// Letters that a stem has less than its word when the word may be another's misspelling: one ending is less.
const ENDINGS_CHARS_MIN: usize = 4;
/// The same when the other word is this one but for letters written twice.
const ENDING_CHARS_MIN: usize = 3;

/// True where products hold a word's stem only because endings were taken off their words, while the word is one letter
/// away from a word of another stem: `earings` are earrings, not ears.
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

/// A word's letters, those written twice once.
fn singly(word: &str) -> impl Iterator<Item = char> {
    let mut last = None;
    word.chars().filter(move |char| last.replace(*char) != Some(*char))
}

/// Mends the words that no product holds: words written apart that belong together, letters mistyped, words written
/// together that stand apart. Words that any product holds are not touched, nor are words that people write elsewhere,
/// nor is anything with a digit.
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

/// The words that an unknown word was meant to be. One edit explains more than two, and two known words written
/// together more than a mistyped first letter.
fn replacement(index: &TextIndex, word: &str) -> Option<Vec<String>> {
    let chars = word.chars().count();
    if chars < CHARS_MIN || !word.chars().all(char::is_alphabetic) {
        return None;
    }
    // A word that people write is no misspelling, whatever the catalogue holds: powder is not power.
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
