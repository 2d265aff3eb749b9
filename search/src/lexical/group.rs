use data_index::terms::{PostingPayload, word_hash};

use super::term::QueryTerm;

/// One word as posting lists have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GroupWord {
    pub(super) stem: String,
    pub(super) form: u8,
    pub(super) hash: u16,
}

impl GroupWord {
    pub(super) fn of(term: &QueryTerm) -> Self {
        Self {
            stem: term.stemmed.clone(),
            form: PostingPayload::form_code(&term.plain),
            hash: word_hash(&term.stemmed),
        }
    }
}

/// One way in which a product may say a word of the query: a word, or several.
#[derive(Debug, Clone)]
pub(super) struct TermVariant {
    pub(super) words: Vec<GroupWord>,
    /// The worth of a match, beside one of the word itself.
    pub(super) factor: f32,
    /// True where the words may stand in any field; otherwise they stand beside each other in the title.
    pub(super) is_apart: bool,
}

/// A word of the query and the other ways to say it: a product that has any of them has the word.
#[derive(Debug, Clone, Default)]
pub(super) struct TermGroup {
    pub(super) variants: Vec<TermVariant>,
}

impl TermGroup {
    /// The word itself and nothing else.
    pub(super) fn of(term: &QueryTerm) -> Self {
        Self {
            variants: vec![TermVariant {
                words: vec![GroupWord::of(term)],
                factor: 1.0,
                is_apart: false,
            }],
        }
    }
}
