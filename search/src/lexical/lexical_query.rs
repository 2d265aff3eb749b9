use super::narrowing::Narrowing;
use super::synonyms::Synonym;
use super::top::Sort;

#[derive(Debug)]
pub(crate) struct LexicalQuery<'a> {
    pub(crate) text: &'a str,
    /// True if only the words of the text are searched, without corrections or completions.
    pub(crate) as_typed: bool,
    /// True for a question or another sentence.
    pub(crate) is_sentence: bool,
    /// Words as typed, for those that were translated in the text.
    pub(crate) typed: &'a [Synonym],
    pub(crate) narrowing: Narrowing<'a>,
    pub(crate) sort: Sort,
    pub(crate) limit: usize,
    /// If at least this many products have every word, no relaxed search is needed.
    pub(crate) enough: usize,
    /// True if all matching rows are requested in addition to the best hits.
    pub(crate) with_matches: bool,
}

impl<'a> LexicalQuery<'a> {
    /// Returns a query for the best product for a text as typed, without filters.
    pub(crate) fn best(text: &'a str) -> Self {
        Self {
            text,
            as_typed: true,
            is_sentence: false,
            typed: &[],
            narrowing: Narrowing::default(),
            sort: Sort::default(),
            limit: 1,
            enough: 1,
            with_matches: false,
        }
    }
}
