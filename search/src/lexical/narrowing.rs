use data_index::{Filter, PartFilter, Release, RowAddress};

use super::index::TextIndex;
use super::rows::{AllowedRows, RowSet};

/// Filter and scope of a search, passed from its plan down to the posting lists.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Narrowing<'a> {
    pub(crate) filter: Option<&'a Filter>,
    /// Filter by kind that applies even without other filters. `None` if the kind is goods.
    pub(crate) kind: Option<&'a Filter>,
    /// Filter by brand, which is the scope within `filter`.
    pub(crate) scope: Option<&'a Filter>,
    /// Rows that may be found. `None` if all rows may.
    pub(crate) allowed: Option<&'a AllowedRows>,
    /// True if `filter` excludes products of the scope.
    pub(crate) is_narrower: bool,
}

impl<'a> Narrowing<'a> {
    /// Returns the narrowing with the scope as its only filter.
    pub(crate) const fn scope(&self) -> Self {
        Self {
            filter: self.scope,
            is_narrower: false,
            ..*self
        }
    }

    /// Returns the filter that products must pass, or the filter by kind if there is none.
    pub(crate) fn passing(&self) -> Option<&'a Filter> {
        self.filter.or(self.kind)
    }

    /// Returns the narrowing without filter and scope.
    pub(crate) fn everywhere(&self) -> Self {
        Self {
            kind: self.kind,
            allowed: self.allowed,
            ..Self::default()
        }
    }

    pub(crate) fn allows(&self, at: RowAddress) -> bool {
        self.allowed.is_none_or(|allowed| allowed.has(at.part, at.row))
    }
}

/// Rows of a part that may be hits.
#[derive(Clone, Copy)]
pub(super) struct EligibleRows<'a> {
    rows: u32,
    alive: Option<&'a RowSet>,
    filter: Option<Option<&'a PartFilter>>,
    allowed: Option<&'a RowSet>,
}

impl<'a> EligibleRows<'a> {
    pub(super) fn of(release: &Release, index: &'a TextIndex, narrowing: Narrowing<'a>, part: u32) -> Self {
        Self {
            rows: release.part(part).map_or(0, data_index::Part::rows),
            alive: index.alive.get(part as usize).and_then(Option::as_ref),
            filter: narrowing.passing().map(|filter| filter.part(part)),
            allowed: narrowing.allowed.and_then(|allowed| allowed.part(part)),
        }
    }

    /// Returns true if no row of the part is dead or filtered out.
    pub(super) const fn has_all(&self) -> bool {
        self.alive.is_none() && self.filter.is_none() && self.allowed.is_none()
    }

    #[inline]
    pub(super) fn has(&self, row: u32) -> bool {
        row < self.rows
            && match self.filter {
                // A filter passes only live rows.
                Some(filter) => filter.is_some_and(|filter| filter.matches(row)),
                None => self.alive.is_none_or(|alive| alive.has(row)),
            }
            && self.allowed.is_none_or(|allowed| allowed.has(row))
    }
}
