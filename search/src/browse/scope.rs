use std::ops::Range;

use data_index::Release;
use data_model::{CategoryId, CurrencyCode, Kinds};

use super::bits::{Bits, ROWS_PER_WORD};
use super::rows::Rows;
use crate::lexical::RowSet;

/// The products that a list is of, before any filter.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scope<'a> {
    /// Those filed under this category or below it.
    pub category: Option<CategoryId>,
    /// Those of this brand, by its position in [`Release::brands`].
    pub brand: Option<usize>,
    /// Those of these kinds.
    pub kinds: Kinds,
    /// Those that a search matched: rows of each part.
    pub(crate) matches: Option<&'a [RowSet]>,
}

impl Scope<'_> {
    /// All products of a category and a brand, as far as either is given, and of these kinds.
    pub const fn new(category: Option<CategoryId>, brand: Option<usize>, kinds: Kinds) -> Self {
        Self {
            category,
            brand,
            kinds,
            matches: None,
        }
    }

    /// The currency of all prices of the scope, where they have one alone.
    pub(super) fn only_currency(&self, release: &Release, rows: &Rows) -> Option<CurrencyCode> {
        let mut known = rows.currencies();
        if known.len() == 1 {
            return known.next();
        }
        only(&self.currencies(release, rows))
    }

    /// The currencies of the scope's prices.
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

/// The currency that all of these are.
pub(super) fn only(currencies: &[CurrencyCode]) -> Option<CurrencyCode> {
    let (first, others) = currencies.split_first()?;
    others.iter().all(|other| other == first).then_some(*first)
}

/// The rows of a brand that are of `all`, in the smallest window.
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
