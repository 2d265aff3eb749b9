use data_text::{Analysis, analyse};

use super::sizes;
use super::term::QueryTerm;

/// Products need not contain these grammatical words, unless the query has no other words.
const STOP_WORDS: [&str; 24] = [
    "a", "an", "and", "are", "as", "at", "by", "for", "from", "has", "in", "is", "it", "of", "on", "or", "our", "that",
    "the", "this", "to", "under", "with", "your",
];

/// Before a stop word, these words are only grammatical, as in `compatible with`, `suitable for` and `made for`.
const BEFORE_STOP_WORDS: [&str; 9] = [
    "compatible",
    "suitable",
    "made",
    "meant",
    "works",
    "fits",
    "fitting",
    "designed",
    "intended",
];

/// Maximum number of searched terms. Each term costs reading postings, and real queries do not have more.
pub(super) const TERMS_MAX: usize = 24;

/// Words that a product must contain to match the query, without duplicates.
#[derive(Debug, Clone, Default)]
pub(super) struct QueryTerms {
    terms: Vec<QueryTerm>,
    /// Number of words of the query, including those that are not searched.
    words: usize,
}

impl QueryTerms {
    /// A size becomes one word if products have it according to `is_held`.
    pub(super) fn of(text: &str, is_held: impl Fn(&str) -> bool) -> Self {
        let stemmed = analyse(Analysis::Stemmed, text);
        let plain = analyse(Analysis::Plain, text);
        let words = stemmed.len();
        let mut plain = plain.into_iter().peekable();
        let mut all: Vec<QueryTerm> = Vec::with_capacity(stemmed.len());
        for stem in stemmed {
            // Both analyses split text identically, so that their positions match. A word that only one of them drops
            // is skipped in the other.
            while plain.next_if(|word| word.position < stem.position).is_some() {}
            let word = plain.next_if(|word| word.position == stem.position);
            all.push(QueryTerm {
                plain: word.map_or_else(|| stem.text.clone(), |word| word.text),
                stemmed: stem.text,
                position: stem.position,
            });
        }
        let mut terms = sizes::joined(all, is_held);
        // Positions of the words of `BEFORE_STOP_WORDS` before a stop word.
        let going: Vec<u32> = terms
            .windows(2)
            .filter_map(|pair| {
                let [word, next] = pair else { return None };
                let goes = BEFORE_STOP_WORDS.contains(&&*word.plain) && STOP_WORDS.contains(&&*next.plain);
                goes.then_some(word.position)
            })
            .collect();
        let meaningful =
            |term: &QueryTerm| !STOP_WORDS.contains(&term.plain.as_str()) && !going.contains(&term.position);
        if terms.iter().any(meaningful) {
            terms.retain(meaningful);
        }
        Self {
            words,
            ..Self::from_terms(terms, TERMS_MAX)
        }
    }

    /// Keeps up to `terms_max` terms without duplicates.
    pub(super) fn from_terms(terms: Vec<QueryTerm>, terms_max: usize) -> Self {
        let mut kept: Vec<QueryTerm> = Vec::with_capacity(terms.len().min(terms_max));
        for term in terms {
            if !kept.iter().any(|other| other.stemmed == term.stemmed) {
                kept.push(term);
            }
        }
        kept.truncate(terms_max);
        Self {
            words: kept.len(),
            terms: kept,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    /// Returns the number of words of the query, including those that products need not contain.
    pub(super) const fn words(&self) -> usize {
        self.words
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, QueryTerm> {
        self.terms.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(String, String)> {
        QueryTerms::of(text, |_| true)
            .iter()
            .map(|term| (term.stemmed.clone(), term.plain.clone()))
            .collect()
    }

    #[test]
    fn grammar_is_dropped_unless_there_is_nothing_else() {
        assert_eq!(
            words("Shoes for the runner"),
            [("shoe".into(), "shoes".into()), ("runner".into(), "runner".into())]
        );
        assert_eq!(words("the"), [("the".into(), "the".into())]);
        assert!(words(" !? ").is_empty());
    }

    #[test]
    fn a_word_counts_once_and_there_are_not_too_many() {
        assert_eq!(words("shirt SHIRTS shirt").len(), 1);
        let many: Vec<String> = (0..60).map(|number| format!("word{number}x")).collect();
        assert_eq!(words(&many.join(" ")).len(), TERMS_MAX);
    }
}
