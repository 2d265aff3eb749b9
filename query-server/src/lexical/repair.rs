use super::index::TextIndex;
use super::terms::{QueryTerm, QueryTerms, TERMS_MAX};

/// A word of the query that no product holds, and what was looked for instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Correction {
    pub(crate) from: String,
    pub(crate) to: String,
}

/// Shortest halves of a word that is taken apart.
const HALF_CHARS_MIN: usize = 3;

/// Edits that a word of this length may be away from what was meant. Shorter words are too near to each other to tell.
const fn edits(chars: usize) -> usize {
    match chars {
        0..=3 => 0,
        4..=8 => 1,
        _ => 2,
    }
}

/// Letters that a stem has less than its word when the word may be another's misspelling: one ending is less.
const ENDINGS_CHARS_MIN: usize = 4;
/// The same when the other word is this one but for letters written twice.
const ENDING_CHARS_MIN: usize = 3;

/// Whether a word shares its stem with words that products hold only because endings were taken off it, while it is one
/// letter away from a word of another stem: `earings` are earrings, not ears.
pub(super) fn is_mistaken(index: &TextIndex, term: &QueryTerm) -> bool {
    let chars = |word: &str| word.chars().count();
    let ending = chars(&term.plain).saturating_sub(chars(&term.stemmed));
    if ending < ENDING_CHARS_MIN || index.vocabulary.count(&term.plain) > 0 {
        return false;
    }
    let Some(meant) = index.vocabulary.nearest(&term.plain, 1) else {
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
        let replaced = if *known { None } else { replacement(index, term) };
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

fn replacement(index: &TextIndex, term: &QueryTerm) -> Option<Vec<String>> {
    let word = &term.plain;
    // A word that people write is no misspelling, whatever the catalogue holds: powder is not power.
    if !word.chars().all(char::is_alphabetic) || data_embedding::is_word(word) {
        return None;
    }
    let edits = edits(word.chars().count());
    let near = |edits| {
        (edits > 0)
            .then(|| index.vocabulary.nearest(word, edits))
            .flatten()
            .map(|near| vec![near.to_owned()])
    };
    let split = || {
        index
            .vocabulary
            .split(word, HALF_CHARS_MIN)
            .map(|(one, other)| vec![one.to_owned(), other.to_owned()])
    };
    near(edits.min(1)).or_else(split).or_else(|| near(edits))
}
