use super::packed::{Kind, PackedValues};
use super::rows::PartRows;
use super::values::Values;

/// If the number of rows is at least one in this many of a part's kinds, its kinds are counted first.
const KINDS_FROM_ONE_IN: usize = 8;

/// Number of rows with any value of each facet.
pub(super) struct FacetCoverage<'a> {
    values: &'a Values,
    /// Row counts by the facet's index in [`Values::names`].
    pub(super) counts: Vec<u32>,
}

impl<'a> FacetCoverage<'a> {
    pub(super) fn none(values: &'a Values) -> Self {
        Self {
            values,
            counts: vec![0; values.names().len()],
        }
    }

    /// Counts rows of several parts.
    pub(super) fn add(&mut self, of: &[PartRows<'_>]) {
        for PartRows { at, rows, .. } in of {
            let Some(packed) = self.values.packed(*at) else {
                continue;
            };
            if rows.len() < packed.kinds().len() / KINDS_FROM_ONE_IN {
                self.add_rows(*at, packed, rows);
                continue;
            }
            let mut counts = vec![0_u32; packed.kinds().len()];
            for row in rows.iter().filter_map(|row| packed.row(*row)) {
                if let Some(count) = counts.get_mut(row.kind as usize) {
                    *count += 1;
                }
            }
            self.add_kinds(*at, packed, &counts);
        }
    }

    /// Counts a few rows of a part one by one.
    pub(super) fn add_rows(&mut self, part: usize, packed: &PackedValues, rows: &[u32]) {
        let places = self.values.places(part);
        let kinds = rows.iter().filter_map(|row| packed.row(*row));
        for kind in kinds.filter_map(|row| packed.kinds().get(row.kind as usize)) {
            self.cover(places, kind, 1);
        }
    }

    /// Adds row counts by kind of a part.
    pub(super) fn add_kinds(&mut self, part: usize, packed: &PackedValues, counts: &[u32]) {
        let places = self.values.places(part);
        for (kind, count) in packed.kinds().iter().zip(counts).filter(|(_, count)| **count > 0) {
            self.cover(places, kind, *count);
        }
    }

    fn cover(&mut self, places: &[usize], kind: &Kind, count: u32) {
        for facet in kind.facets.iter().filter_map(|facet| places.get(*facet)) {
            if let Some(covered) = self.counts.get_mut(*facet) {
                *covered += count;
            }
        }
    }
}
