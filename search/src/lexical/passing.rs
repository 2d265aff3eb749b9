use data_index::{Filter, PartFilter, Release};

use super::index::TextIndex;
use super::rows::{Allowed, RowSet};

/// The rows of a part that may be answered.
#[derive(Clone, Copy)]
pub(super) struct Passing<'a> {
    rows: u32,
    alive: Option<&'a RowSet>,
    filter: Option<Option<&'a PartFilter>>,
    allowed: Option<&'a RowSet>,
}

impl<'a> Passing<'a> {
    pub(super) fn of(
        release: &Release,
        index: &'a TextIndex,
        (filter, allowed): (Option<&'a Filter>, Option<&'a Allowed>),
        part: u32,
    ) -> Self {
        Self {
            rows: release.part(part).map_or(0, data_index::Part::rows),
            alive: index.alive.get(part as usize).and_then(Option::as_ref),
            filter: filter.map(|filter| filter.part(part)),
            allowed: allowed.and_then(|allowed| allowed.part(part)),
        }
    }

    /// Whether no row of the part is dead or filtered out.
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
