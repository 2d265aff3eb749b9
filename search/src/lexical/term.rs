use data_text::{Analysis, analyse};

/// One word of a query in the forms that the fields hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueryTerm {
    pub(super) stemmed: String,
    pub(super) plain: String,
    /// The position among the query's words.
    pub(super) position: u32,
}

impl QueryTerm {
    /// A word that a query was corrected to.
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
