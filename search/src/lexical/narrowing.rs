use data_index::{Filter, PartFilter, Release, RowAddress};

use super::index::TextIndex;
use super::rows::{AllowedRows, RowSet};

/// The rows of a release that may be found, and the scope of the search: one filter from the plan of a search to the
/// posting lists.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Narrowing<'a> {
    /// The filter that products must pass.
    pub(crate) filter: Option<&'a Filter>,
    /// The filter by kind that every product must pass, filtered or not; none where goods are asked for.
    pub(crate) kind: Option<&'a Filter>,
    /// The part of `filter` that says where to look: the brand.
    pub(crate) scope: Option<&'a Filter>,
    /// The rows that may be found, where there are others.
    pub(crate) allowed: Option<&'a AllowedRows>,
    /// True where `filter` leaves products of the scope out.
    pub(crate) is_narrower: bool,
}

impl<'a> Narrowing<'a> {
    /// The same with no filter but the scope.
    pub(crate) const fn scope(&self) -> Self {
        Self {
            filter: self.scope,
            is_narrower: false,
            ..*self
        }
    }

    /// The filter that products must pass, or that of their kind alone.
    pub(crate) fn passing(&self) -> Option<&'a Filter> {
        self.filter.or(self.kind)
    }

    /// The same without filter and scope.
    pub(crate) fn everywhere(&self) -> Self {
        Self {
            kind: self.kind,
            allowed: self.allowed,
            ..Self::default()
        }
    }

    /// True where a row is one of those that may be found at all.
    pub(crate) fn allows(&self, at: RowAddress) -> bool {
        self.allowed.is_none_or(|allowed| allowed.has(at.part, at.row))
    }
}

/// The rows of a part that may be answered.
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

    /// True where no row of the part is dead or filtered out.
    pub(super) const fn has_all(&self) -> bool {
        self.alive.is_none() && self.filter.is_none() && self.allowed.is_none()
    }

    #[inline]
    pub(super) fn has(&self, row: u32) -> bool {
        row < self.rows
            && match self.filter {
                // A filter passes live rows alone.
                Some(filter) => filter.is_some_and(|filter| filter.matches(row)),
                None => self.alive.is_none_or(|alive| alive.has(row)),
            }
            && self.allowed.is_none_or(|allowed| allowed.has(row))
    }
}
