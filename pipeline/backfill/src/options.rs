use data_model::BrandSlug;

use crate::{Backfill, Range, Stage};

/// The task of a backfill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackfillOptions {
    /// These brands only; `None` is all.
    pub only: Option<Vec<BrandSlug>>,
    /// Crawls that ended in this time.
    pub range: Range,
    /// [`Stage::Parse`]: the others are not read from landed catalogues.
    pub stage: Stage,
    /// Takes landings too that are older than what the lake has: prices and products of then are the present ones again.
    pub older: bool,
    /// Takes what a crawl would hold back too.
    pub accept_collapse: bool,
    /// Reads and reports, but writes nothing.
    pub dry_run: bool,
}

impl BackfillOptions {
    pub(crate) fn are_those_of(&self, backfill: &Backfill) -> bool {
        let same = self.only == backfill.only && self.range == backfill.range && self.stage == backfill.stage;
        same && self.older == backfill.older && self.accept_collapse == backfill.accept_collapse
    }
}
