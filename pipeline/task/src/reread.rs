use data_model::{BrandSlug, Timestamp};
use serde::Serialize;

/// The landed answers that are to be read again.
#[derive(Debug, Clone, Default)]
pub struct RereadOptions {
    /// These brands; all when `None`.
    pub only: Option<Vec<BrandSlug>>,
    /// Brands whose newest answer before `until` was landed from this moment on.
    pub from: Option<Timestamp>,
    /// Answers before this moment.
    pub until: Option<Timestamp>,
    /// Takes answers too after which there are newer ones.
    pub older: bool,
    /// Reads and compares, and writes nothing.
    pub dry_run: bool,
}

/// The outcome of one brand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RereadOutcome {
    /// Its rows are others now.
    Changed,
    /// They are as they were.
    Unchanged,
    /// No answer about it was landed in the range.
    NothingLanded,
    /// A part of what was answered is landed: its rows stay.
    NotWhole,
    /// There are newer answers than those of the range, or the lake has such.
    Older,
    /// The answers cannot be understood now, or say nothing where more may stand elsewhere: its rows stay.
    Unclear,
    /// Files with its rows are missing or damaged.
    Damaged,
    /// No crawl brought it yet.
    NotInLake,
}

impl RereadOutcome {
    /// True where rows that should be others stay as they are.
    #[must_use]
    pub const fn is_left(self) -> bool {
        matches!(self, Self::NotWhole | Self::Older | Self::Unclear | Self::Damaged)
    }
}

/// Brands by their outcomes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RereadCounts {
    /// Brands that were to be read.
    pub brands: u64,
    /// Of these, brands whose rows changed.
    pub changed: u64,
    /// Those whose rows are as they were.
    pub unchanged: u64,
    /// The brands that were left as they are.
    pub left: u64,
}

impl RereadCounts {
    /// Counts these.
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
