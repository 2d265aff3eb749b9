use std::ops::Range;

use arrow::array::{BooleanArray, Int64Array, UInt8Array};
use data_model::{CategoryId, CurrencyCode, Kinds, StoreHost};
use roaring::RoaringBitmap;

use crate::columns::fold_name;
use crate::release::{Part, Release};
use crate::taxonomy;
use data_text::fold_value;

/// The products that a caller wants; an empty filter wants all goods.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowFilter {
    /// Only products whose lowest price is in this range; products in other currencies are left out.
    pub price: Option<PriceRange>,
    /// Only products that have a price, above 0, in another currency than this one.
    pub priced_outside: Option<CurrencyCode>,
    /// Only products with an available variant.
    pub in_stock: bool,
    /// Only products whose card shows a list price above the price.
    pub on_sale: bool,
    /// Only products of these stores; of none when the list is empty.
    pub stores: Option<Vec<StoreHost>>,
    /// Only products of the brands whose place in [`Release::brands`] is true here; a place behind the end is not.
    pub brands: Option<Vec<bool>>,
    /// Only products filed under this category or below it.
    pub category: Option<CategoryId>,
    /// Clauses that must all hold.
    pub facets: Vec<FacetClause>,
    /// Only products of these kinds.
    pub kinds: Kinds,
}

/// A range of prices of one currency, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceRange {
    /// The currency that the ends are in.
    pub currency: CurrencyCode,
    /// Lowest price wanted.
    pub min_minor: Option<i64>,
    /// Highest price wanted.
    pub max_minor: Option<i64>,
}

/// Any of some values of one facet. Names and values are folded before they are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FacetClause {
    /// The facet: `color`, `size`, …, `category` (slug or id), `vendor`, `tag`. An unknown one matches nothing.
    pub name: String,
    /// Any of these.
    pub values: Vec<String>,
}

/// A filter resolved against a release: posting lists fetched, codes looked up. Holds the release's memory.
#[derive(Debug)]
pub struct Filter {
    parts: Vec<PartFilter>,
}

impl Release {
    /// Resolves a filter against this release: looks up codes and fetches posting lists, once a query.
    #[must_use]
    pub fn filter(&self, filter: &RowFilter) -> Filter {
        let parts = self.parts().iter().map(|part| PartFilter::new(filter, part));
        Filter { parts: parts.collect() }
    }
}

impl Filter {
    /// The filter on one part: `part` as in [`RowAddress`](crate::RowAddress).
    #[must_use]
    pub fn part(&self, part: u32) -> Option<&PartFilter> {
        self.parts.get(part as usize)
    }

    /// The filter on each part.
    #[must_use]
    pub fn parts(&self) -> &[PartFilter] {
        &self.parts
    }

    /// True where a row passes.
    #[must_use]
    #[inline]
    pub fn matches(&self, row: crate::RowAddress) -> bool {
        self.part(row.part).is_some_and(|part| part.matches(row.row))
    }

    /// True where no row of any part can pass.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| part.rows_max() == 0)
    }
}

/// A filter on the rows of one part.
#[derive(Debug)]
pub struct PartFilter {
    rows: u32,
    /// Rows that any of the ranges of stores and brands holds, and that each posting list holds; ascending, disjoint.
    ranges: Option<Vec<Range<u32>>>,
    postings: Vec<RoaringBitmap>,
    price: Option<Price>,
    outside: Option<Outside>,
    in_stock: Option<BooleanArray>,
    on_sale: Option<BooleanArray>,
    unlisted: RoaringBitmap,
    /// No row can pass.
    nothing: bool,
}

/// Below one row in this many, looking at the rows one by one beats a pass over the columns.
const FEW: u64 = 16;

#[derive(Debug)]
struct Price {
    prices: Int64Array,
    currencies: UInt8Array,
    currency: u8,
    least: i64,
    most: i64,
}

impl Price {
    fn matches(&self, row: usize) -> bool {
        self.passes(self.prices.value(row), self.currencies.value(row))
    }

    /// Without branches: it is asked of every row of a part.
    #[inline]
    const fn passes(&self, minor: i64, currency: u8) -> bool {
        (minor >= self.least) & (minor <= self.most) & (currency == self.currency)
    }
}

/// A condition on prices: they are in another currency than this one.
#[derive(Debug)]
struct Outside {
    prices: Int64Array,
    currencies: UInt8Array,
    /// `None` where the part has no price in that currency: then every other price will do.
    currency: Option<u8>,
}

impl Outside {
    fn matches(&self, row: usize) -> bool {
        self.prices.value(row) > 0 && Some(self.currencies.value(row)) != self.currency
    }
}

impl PartFilter {
    fn new(filter: &RowFilter, part: &Part) -> Self {
        let cards = part.cards();
        let mut new = Self {
            rows: part.rows(),
            ranges: ranges(part, filter),
            postings: Vec::new(),
            price: None,
            outside: filter.priced_outside.map(|currency| Outside {
                prices: cards.price_min.clone(),
                currencies: cards.currency.clone(),
                currency: cards.currency_code(currency),
            }),
            in_stock: filter.in_stock.then(|| cards.in_stock.clone()),
            on_sale: filter.on_sale.then(|| cards.on_sale.clone()),
            unlisted: part.unlisted_but(filter.kinds),
            nothing: part.live_rows() == 0,
        };
        new.nothing |= new.ranges.as_ref().is_some_and(Vec::is_empty);
        if let Some(PriceRange {
            currency,
            min_minor,
            max_minor,
        }) = filter.price
        {
            match cards.currency_code(currency) {
                Some(code) => {
                    let (prices, currencies) = (cards.price_min.clone(), cards.currency.clone());
                    new.price = Some(Price {
                        prices,
                        currencies,
                        currency: code,
                        least: min_minor.unwrap_or(i64::MIN),
                        most: max_minor.unwrap_or(i64::MAX),
                    });
                }
                None => new.nothing = true,
            }
        }
        if !new.nothing {
            new.postings
                .extend(filter.category.map(|category| part.facets().category_rows(category)));
            new.postings
                .extend(filter.facets.iter().map(|clause| clause_rows(part, clause)));
            // The shortest list first: it decides most rows.
            new.postings.sort_by_key(RoaringBitmap::len);
            new.nothing = new.postings.first().is_some_and(RoaringBitmap::is_empty);
        }
        new
    }

    /// True of a row of the part that passes; unlisted rows never do.
    #[must_use]
    pub fn matches(&self, row: u32) -> bool {
        !self.nothing
            && row < self.rows
            && self.ranges.as_ref().is_none_or(|ranges| holds(ranges, row))
            && self.postings.iter().all(|rows| rows.contains(row))
            && self.scalars_match(row)
            && !self.unlisted.contains(row)
    }

    #[inline]
    fn scalars_match(&self, row: u32) -> bool {
        let row = row as usize;
        self.in_stock.as_ref().is_none_or(|column| column.value(row))
            && self.on_sale.as_ref().is_none_or(|column| column.value(row))
            && self.price.as_ref().is_none_or(|price| price.matches(row))
            && self.outside.as_ref().is_none_or(|outside| outside.matches(row))
    }

    /// The rows that pass.
    #[must_use]
    pub fn bitmap(&self) -> RoaringBitmap {
        if self.nothing {
            return RoaringBitmap::new();
        }
        let mut rows = self.candidates();
        rows -= &self.unlisted;
        if self.in_stock.is_none() && self.on_sale.is_none() && self.price.is_none() && self.outside.is_none() {
            return rows;
        }
        // Prices outside a currency are asked for seldom, and one row is enough: they have no pass of their own.
        if rows.len() < u64::from(self.rows) / FEW || self.outside.is_some() {
            let passing = rows.iter().filter(|row| self.scalars_match(*row));
            // Ascending by construction, so nothing is lost.
            return RoaringBitmap::from_sorted_iter(passing).unwrap_or_default();
        }
        rows &= RoaringBitmap::from_lsb0_bytes(0, &self.scalar_mask());
        rows
    }

    /// One bit a row, whether its columns pass; branch-free, eight rows a byte.
    fn scalar_mask(&self) -> Vec<u8> {
        let rows = self.rows as usize;
        let mut mask = vec![u8::MAX; rows.div_ceil(8)];
        for column in [&self.in_stock, &self.on_sale].into_iter().flatten() {
            for (byte, bits) in mask.iter_mut().zip(column.values().sliced().as_slice()) {
                *byte &= bits;
            }
        }
        if let Some(price) = &self.price {
            let (prices, _) = price.prices.values().as_chunks::<8>();
            let (currencies, _) = price.currencies.values().as_chunks::<8>();
            for ((byte, prices), currencies) in mask.iter_mut().zip(prices).zip(currencies) {
                let mut bits = 0;
                for at in 0..8 {
                    bits |= u8::from(price.passes(prices[at], currencies[at])) << at;
                }
                *byte &= bits;
            }
            for row in rows - rows % 8..rows {
                if let Some(byte) = mask.get_mut(row / 8).filter(|_| !price.matches(row)) {
                    *byte &= !(1 << (row % 8));
                }
            }
        }
        // Bits behind the last row stand for no row.
        if let Some(last) = mask.last_mut().filter(|_| !rows.is_multiple_of(8)) {
            *last &= (1 << (rows % 8)) - 1;
        }
        mask
    }

    /// The rows of the stores and posting lists.
    fn candidates(&self) -> RoaringBitmap {
        let mut rows = RoaringBitmap::new();
        match &self.ranges {
            Some(ranges) => ranges.iter().for_each(|range| {
                rows.insert_range(range.clone());
            }),
            None => {
                rows.insert_range(0..self.rows);
            }
        }
        for postings in &self.postings {
            rows &= postings;
        }
        rows
    }

    /// An upper bound of how many rows pass, cheap to tell: zero means none.
    #[must_use]
    pub fn rows_max(&self) -> u64 {
        if self.nothing {
            return 0;
        }
        let in_ranges = self
            .ranges
            .iter()
            .flatten()
            .map(|range| u64::from(range.end - range.start))
            .sum();
        let in_ranges = if self.ranges.is_some() {
            in_ranges
        } else {
            u64::from(self.rows) - self.unlisted.len()
        };
        self.postings
            .first()
            .map_or(in_ranges, |rows| rows.len().min(in_ranges))
    }
}

fn holds(ranges: &[Range<u32>], row: u32) -> bool {
    let after = ranges.partition_point(|range| range.start <= row);
    after
        .checked_sub(1)
        .and_then(|at| ranges.get(at))
        .is_some_and(|range| row < range.end)
}

/// The live rows of the stores and brands that are wanted, where they are; a part's stores lie in row order.
fn ranges(part: &Part, filter: &RowFilter) -> Option<Vec<Range<u32>>> {
    let RowFilter { stores, brands, .. } = filter;
    if stores.is_none() && brands.is_none() {
        return None;
    }
    let of_brands = |row: u32, brands: &Vec<bool>| brands.get(part.brand_index(row)).copied().unwrap_or(false);
    let is_wanted = |held: &crate::PartStore| {
        stores.as_ref().is_none_or(|stores| stores.contains(&held.store))
            && brands.as_ref().is_none_or(|brands| of_brands(held.first_row, brands))
    };
    let held = part.entry().stores.iter();
    let wanted = held.filter(|held| held.live && held.rows > 0 && is_wanted(held));
    let mut ranges: Vec<Range<u32>> = Vec::new();
    for range in wanted.map(crate::PartStore::row_range) {
        match ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => ranges.push(range),
        }
    }
    Some(ranges)
}

fn clause_rows(part: &Part, clause: &FacetClause) -> RoaringBitmap {
    let (name, facets) = (fold_name(&clause.name), part.facets());
    let mut rows = RoaringBitmap::new();
    for value in &clause.values {
        let value = fold_value(value);
        let code = if name == "category" {
            taxonomy::by_slug_or_id(&value).and_then(|category| facets.code(&name, &category.id.to_string()))
        } else {
            facets.code(&name, &value)
        };
        if let Some(code) = code {
            rows |= facets.rows(code);
        }
    }
    rows
}
