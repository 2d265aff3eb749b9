use data_model::BrandSlug;

use crate::{Backfill, Range, Stage};

/// Options of a backfill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackfillOptions {
    /// Brands to reread. `None` means all.
    pub only: Option<Vec<BrandSlug>>,
    /// Time range in which the crawls must have ended.
    pub range: Range,
    /// Must be [`Stage::Parse`], because the other stages do not start with landed catalogues.
    pub stage: Stage,
    /// True to use landed crawls that are older than the lake's data too. Their prices and products become current
    /// again.
    pub older: bool,
    /// True to also accept catalogues that a crawl would hold back.
    pub accept_collapse: bool,
    /// True to read and report, but write nothing.
    pub dry_run: bool,
}

impl BackfillOptions {
    pub(crate) fn are_those_of(&self, backfill: &Backfill) -> bool {
        let same = self.only == backfill.only && self.range == backfill.range && self.stage == backfill.stage;
        same && self.older == backfill.older && self.accept_collapse == backfill.accept_collapse
    }
}
