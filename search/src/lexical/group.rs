use data_index::terms::{PostingPayload, word_hash};

use super::term::QueryTerm;

/// Word in the form of the posting lists.
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

/// Variant of a query word, with one or several words.
#[derive(Debug, Clone)]
pub(super) struct TermVariant {
    pub(super) words: Vec<GroupWord>,
    /// Weight of a match, relative to the word itself.
    pub(super) factor: f32,
    /// True if the words may be in any field. Otherwise they must be adjacent in the title.
    pub(super) is_apart: bool,
}

/// Query word with its variants. A product with any variant matches the word.
#[derive(Debug, Clone, Default)]
pub(super) struct TermGroup {
    pub(super) variants: Vec<TermVariant>,
}

impl TermGroup {
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
