use data_index::Release;

use super::index::TextIndex;
use super::matches::Marks;
use super::passing::Passing;
use super::top::TopHits;
use super::wanted::Wanted;
use super::whole::Whole;
use super::work::Work;

/// What is looked for, and in what.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub(super) release: &'a Release,
    pub(super) index: &'a TextIndex,
    pub(super) wanted: &'a Wanted<'a>,
    pub(super) whole: &'a Whole<'a>,
}

impl<'a> Search<'a> {
    /// The rows of a part that may be answered.
    pub(super) fn passing(&self, part: u32) -> Passing<'a> {
        Passing::of(self.release, self.index, self.wanted.narrowing, part)
    }

    /// The rows of a part among which it is looked for; `None` where they are those that may be answered.
    pub(super) fn scope(&self, part: u32) -> Option<Passing<'a>> {
        let narrowing = self.wanted.narrowing;
        let scope = || Passing::of(self.release, self.index, narrowing.scope(), part);
        narrowing.is_narrower.then(scope)
    }
}

/// What a search has gathered, and what it may still do.
pub(super) struct Collector<'a, 'w> {
    pub(super) top: TopHits<'a>,
    pub(super) work: &'w mut Work,
    /// Where all that the search is about is asked for.
    pub(super) marks: Option<Marks<'a>>,
}
