use std::ops::Range;

use data_index::columns::MatchRef;
use data_index::{BrandEntry, Part, Release, RowAddress};

/// A row of a table: its product or brand, and the index of its variant, review or facet value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) part: u32,
    pub(crate) row: u32,
    pub(crate) position: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Each {
    Product,
    Variant,
    Review,
    Facet,
    Brand,
    /// One direction of a pair of matching products.
    Match,
}

impl Row {
    /// Returns the row at an index of a table whose rows do not come from parts: brands or matches.
    pub(crate) fn place(at: u32) -> Self {
        Self {
            part: 0,
            row: at,
            position: 0,
        }
    }

    pub(crate) fn address(self) -> RowAddress {
        RowAddress {
            part: self.part,
            row: self.row,
        }
    }

    pub(crate) fn part(self, release: &Release) -> Option<&Part> {
        release.part(self.part)
    }

    pub(crate) fn seller(self, release: &Release) -> &BrandEntry {
        release.brand_of(self.address())
    }

    pub(crate) fn matched(self, release: &Release) -> Option<MatchRef<'_>> {
        release.matches()?.get(self.row as usize)
    }

    pub(crate) fn entry(self, release: &Release) -> Option<&BrandEntry> {
        release.brands().get(self.row as usize)
    }
}

impl Each {
    /// Adds the rows of the product at an address in this part. If `codes` are given, adds only facet values with these
    /// codes.
    pub(crate) fn expand(self, at: RowAddress, part: &Part, codes: Option<&Range<u32>>, out: &mut Vec<Row>) {
        let row = at.row;
        let made = |position| Row {
            part: at.part,
            row,
            position,
        };
        match self {
            Self::Product | Self::Brand | Self::Match => out.push(made(0)),
            Self::Variant => out.extend((0..part.cards().variant_count(row)).map(made)),
            Self::Review => {
                let count = part.reviews(row).len();
                out.extend((0..u32::try_from(count).unwrap_or(u32::MAX)).map(made));
            }
            Self::Facet => {
                let held = part.cards().facet_codes(row).iter().copied();
                let held = held.filter(|code| codes.is_none_or(|codes| codes.contains(code)));
                out.extend(held.map(made));
            }
        }
    }
}
