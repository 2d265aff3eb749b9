use std::ops::Range;

use data_index::Release;
use data_model::{CategoryId, CurrencyCode, Kinds};

use super::bits::{Bits, ROWS_PER_WORD};
use super::rows::Rows;
use crate::lexical::RowSet;

/// Products of a list before any filter.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scope<'a> {
    /// Only products in this category or one of its descendants.
    pub category: Option<CategoryId>,
    /// Only products of this brand, as an index in [`Release::brands`].
    pub brand: Option<usize>,
    /// Only products of these kinds.
    pub kinds: Kinds,
    /// Only products that a search matched, as rows of each part.
    pub(crate) matches: Option<&'a [RowSet]>,
}

impl Scope<'_> {
    /// Returns the products of these kinds, limited to a category and a brand if given.
    pub const fn new(category: Option<CategoryId>, brand: Option<usize>, kinds: Kinds) -> Self {
        Self {
            category,
            brand,
            kinds,
            matches: None,
        }
    }

    /// Returns `None` if prices in the scope are in several currencies.
    pub(super) fn only_currency(&self, release: &Release, rows: &Rows) -> Option<CurrencyCode> {
        let mut known = rows.currencies();
        if known.len() == 1 {
            return known.next();
        }
        only(&self.currencies(release, rows))
    }

    pub(super) fn currencies(&self, release: &Release, rows: &Rows) -> Vec<CurrencyCode> {
        let bits = self.bits(release, rows);
        let is_held = |currency: &CurrencyCode| {
            let words = rows.in_currency(*currency).map(|words| bits.part_of(words));
            let mut pairs = bits.words.iter().zip(words.unwrap_or_default());
            pairs.any(|(one, other)| one & other != 0)
        };
        rows.currencies().filter(is_held).collect()
    }

    pub(super) fn bits(&self, release: &Release, rows: &Rows) -> Bits {
        let of_kinds = rows.of_kinds(release, self.kinds);
        let mut bits = match self.brand {
            Some(brand) => of_brand(rows, brand, &of_kinds),
            None => Bits {
                first: 0,
                words: of_kinds.into_owned(),
            },
        };
        if let Some(category) = self.category {
            let mut filed = Bits::empty(bits.window());
            for segment in rows.segments(release, &bits.window()) {
                let facets = segment.part.facets();
                let words = filed.words.get_mut(segment.words).unwrap_or_default();
                if let Some(code) = facets.code("category", &category.to_string()) {
                    facets.or_rows(code, segment.first, words);
                }
            }
            bits.and(&filed.words);
        }
        if let Some(matches) = self.matches {
            let mut matched = Bits::empty(bits.window());
            for segment in rows.segments(release, &bits.window()) {
                let of_part = matches.get(segment.at).map_or(&[][..], RowSet::words);
                let to = matched.words.get_mut(segment.words).unwrap_or_default();
                let from = of_part.get(segment.first..).unwrap_or_default();
                to.iter_mut().zip(from).for_each(|(to, from)| *to |= from);
            }
            bits.and(&matched.words);
        }
        bits
    }
}

/// Returns the currency if all are equal.
pub(super) fn only(currencies: &[CurrencyCode]) -> Option<CurrencyCode> {
    let (first, others) = currencies.split_first()?;
    others.iter().all(|other| other == first).then_some(*first)
}

/// Returns the rows of a brand that are in `all`, in the smallest possible window.
fn of_brand(rows: &Rows, brand: usize, all: &[u64]) -> Bits {
    let ranges = rows.brand(brand);
    let word = |row: u32| row as usize / ROWS_PER_WORD;
    let window: Range<usize> = match (ranges.first(), ranges.last()) {
        (Some(first), Some(last)) => word(first.start)..word(last.end - 1) + 1,
        _ => 0..0,
    };
    let mut bits = Bits::empty(window);
    ranges.iter().for_each(|range| bits.insert_range(range.clone()));
    let listed = bits.part_of(all);
    bits.and(listed);
    bits
}
