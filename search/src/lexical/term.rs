use data_text::{Analysis, analyse};

/// Query word in the forms of the fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueryTerm {
    pub(super) stemmed: String,
    pub(super) plain: String,
    /// Position among the words of the query.
    pub(super) position: u32,
}

impl QueryTerm {
    /// Returns the term for a replacement of a query word.
    pub(super) fn of_word(word: &str, position: u32) -> Self {
        let stemmed = analyse(Analysis::Stemmed, word)
            .pop()
            .map_or_else(|| word.to_owned(), |term| term.text);
        Self {
            stemmed,
            plain: word.to_owned(),
            position,
        }
    }
}
