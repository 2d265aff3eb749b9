use data_index::Release;

use super::index::TextIndex;
use super::lexical_query::LexicalQuery;
use super::matches::Marks;
use super::narrowing::EligibleRows;
use super::top::TopHits;
use super::whole::Whole;
use super::work::Work;

/// Query with the release that is searched.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub(super) release: &'a Release,
    pub(super) index: &'a TextIndex,
    pub(super) wanted: &'a LexicalQuery<'a>,
    pub(super) whole: &'a Whole<'a>,
}

impl<'a> Search<'a> {
    pub(super) fn eligible(&self, part: u32) -> EligibleRows<'a> {
        EligibleRows::of(self.release, self.index, self.wanted.narrowing, part)
    }

    /// Returns the rows of a part in the scope of the search, or `None` if they equal the eligible rows.
    pub(super) fn scope(&self, part: u32) -> Option<EligibleRows<'a>> {
        let narrowing = self.wanted.narrowing;
        let scope = || EligibleRows::of(self.release, self.index, narrowing.scope(), part);
        narrowing.is_narrower.then(scope)
    }
}

/// Hits so far, and the remaining work of a search.
pub(super) struct Collector<'a, 'w> {
    pub(super) top: TopHits<'a>,
    pub(super) work: &'w mut Work,
    /// Marks of all matching rows, if requested.
    pub(super) marks: Option<Marks<'a>>,
}
