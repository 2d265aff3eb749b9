use data_model::{BrandSlug, Timestamp};
use serde::Serialize;

/// Selects the landed answers to reread.
#[derive(Debug, Clone, Default)]
pub struct RereadOptions {
    /// Brands to reread. `None` means all brands.
    pub only: Option<Vec<BrandSlug>>,
    /// Start of the time range. A brand is reread if its newest answer before `until` was landed at or after this time.
    pub from: Option<Timestamp>,
    /// End of the time range. Only answers from before this time are read.
    pub until: Option<Timestamp>,
    /// True to reread answers even if their store has a newer answer.
    pub older: bool,
    /// True to read and compare, but write nothing.
    pub dry_run: bool,
}

/// Outcome of rereading one brand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RereadOutcome {
    /// The rows of the brand changed.
    Changed,
    /// The rows of the brand did not change.
    Unchanged,
    /// No answer about the brand was landed in the range.
    NothingLanded,
    /// Only part of the store's answers is landed. The brand's rows stay.
    NotWhole,
    /// Landing or lake has newer answers than the range.
    Older,
    /// The answers cannot be parsed now, or state nothing while pages that were not read may state something. The
    /// brand's rows stay.
    Unclear,
    /// Files with the brand's rows are missing or damaged.
    Damaged,
    /// No crawl has brought the brand into the lake yet.
    NotInLake,
}

impl RereadOutcome {
    /// Returns true if the brand's rows stay although they may need to change.
    #[must_use]
    pub const fn is_left(self) -> bool {
        matches!(self, Self::NotWhole | Self::Older | Self::Unclear | Self::Damaged)
    }
}

/// Number of brands by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RereadCounts {
    /// Brands selected for rereading.
    pub brands: u64,
    /// Brands whose rows changed.
    pub changed: u64,
    /// Brands whose rows did not change.
    pub unchanged: u64,
    /// Brands whose rows stay although they may need to change.
    pub left: u64,
}

impl RereadCounts {
    /// Counts the given outcomes.
    #[must_use]
    pub fn of(outcomes: impl Iterator<Item = RereadOutcome>) -> Self {
        let mut counts = Self::default();
        for outcome in outcomes {
            counts.brands += 1;
            *match outcome {
                RereadOutcome::Changed => &mut counts.changed,
                RereadOutcome::Unchanged => &mut counts.unchanged,
                _ => &mut counts.left,
            } += 1;
        }
        counts
    }
}
