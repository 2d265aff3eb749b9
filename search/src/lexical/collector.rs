use data_index::Release;

use super::index::TextIndex;
use super::lexical_query::LexicalQuery;
use super::matches::Marks;
use super::narrowing::EligibleRows;
use super::top::TopHits;
use super::whole::Whole;
use super::work::Work;

/// A query, and the release in which it is looked for.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub(super) release: &'a Release,
    pub(super) index: &'a TextIndex,
    pub(super) wanted: &'a LexicalQuery<'a>,
    pub(super) whole: &'a Whole<'a>,
}

impl<'a> Search<'a> {
    /// The rows of a part that may be answered.
    pub(super) fn eligible(&self, part: u32) -> EligibleRows<'a> {
        EligibleRows::of(self.release, self.index, self.wanted.narrowing, part)
    }

    /// The rows of a part among which it is looked for; `None` where they are those that may be answered.
    pub(super) fn scope(&self, part: u32) -> Option<EligibleRows<'a>> {
        let narrowing = self.wanted.narrowing;
        let scope = || EligibleRows::of(self.release, self.index, narrowing.scope(), part);
        narrowing.is_narrower.then(scope)
    }
}

/// The state of a search: the hits so far, and the work that it may still do.
pub(super) struct Collector<'a, 'w> {
    pub(super) top: TopHits<'a>,
    pub(super) work: &'w mut Work,
    /// The marks of all that the search is about, where they are asked for.
    pub(super) marks: Option<Marks<'a>>,
}
