use super::narrowing::Narrowing;
use super::synonyms::Synonym;
use super::top::Sort;

/// A query by words.
#[derive(Debug)]
pub(crate) struct LexicalQuery<'a> {
    pub(crate) text: &'a str,
    /// Only the words that the text has: none is corrected or taken for the beginning of another.
    pub(crate) as_typed: bool,
    /// The words that were typed where the text has their translation.
    pub(crate) typed: &'a [Synonym],
    pub(crate) narrowing: Narrowing<'a>,
    pub(crate) sort: Sort,
    pub(crate) limit: usize,
    /// So many products with every word make it needless to look for others.
    pub(crate) enough: usize,
    /// True where all that the search is about is asked for, and not the best alone.
    pub(crate) with_matches: bool,
}

impl<'a> LexicalQuery<'a> {
    /// The best product for a text as it is typed, wherever it is.
    pub(crate) fn best(text: &'a str) -> Self {
        Self {
            text,
            as_typed: true,
            typed: &[],
            narrowing: Narrowing::default(),
            sort: Sort::default(),
            limit: 1,
            enough: 1,
            with_matches: false,
        }
    }
}
