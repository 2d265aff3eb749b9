use std::ops::Range;

use arrow::array::{BooleanArray, Int64Array, UInt8Array};
use data_model::{CategoryId, CurrencyCode, Kinds, StoreHost};
use roaring::RoaringBitmap;

use crate::columns::fold_name;
use crate::release::{Part, Release};
use crate::taxonomy;
use data_text::fold_value;

/// Conditions that products must satisfy. An empty filter selects all products of the kind goods.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowFilter {
    /// Selects products whose lowest price is in this range. Products in other currencies are excluded.
    pub price: Option<PriceRange>,
    /// Selects products with a price above 0 in a currency other than this one.
    pub priced_outside: Option<CurrencyCode>,
    /// Selects products with an available variant.
    pub in_stock: bool,
    /// Selects products whose card shows a list price above the price.
    pub on_sale: bool,
    /// Selects products of these stores. An empty list selects no product.
    pub stores: Option<Vec<StoreHost>>,
    /// Selects products of the brands whose index in [`Release::brands`] is true here. Indexes past the end count as
    /// false.
    pub brands: Option<Vec<bool>>,
    /// Selects products in this category or one of its descendants.
    pub category: Option<CategoryId>,
    /// Facet clauses that a product must all satisfy.
    pub facets: Vec<FacetClause>,
    /// Selects products of these kinds.
    pub kinds: Kinds,
}

/// Range of prices in one currency, with both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceRange {
    /// Currency of both ends of the range.
    pub currency: CurrencyCode,
    /// Lowest accepted price, in minor units.
    pub min_minor: Option<i64>,
    /// Highest accepted price, in minor units.
    pub max_minor: Option<i64>,
}

/// Condition that a product has at least one of some values of one facet. The comparison folds names and values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FacetClause {
    /// Name of the facet: `color`, `size`, …, `category` (slug or id), `vendor`, `tag`. An unknown name matches no
    /// product.
    pub name: String,
    /// Accepted values.
    pub values: Vec<String>,
}

/// Filter resolved against a release, with its codes and posting lists. The filter keeps the files of the release in
/// memory.
#[derive(Debug)]
pub struct Filter {
    parts: Vec<PartFilter>,
}

impl Release {
    /// Resolves `filter` against this release, once per query.
    #[must_use]
    pub fn filter(&self, filter: &RowFilter) -> Filter {
        let parts = self.parts().iter().map(|part| PartFilter::new(filter, part));
        Filter { parts: parts.collect() }
    }
}

impl Filter {
    /// Returns the filter for one part. `part` is an index as in [`RowAddress`](crate::RowAddress).
    #[must_use]
    pub fn part(&self, part: u32) -> Option<&PartFilter> {
        self.parts.get(part as usize)
    }

    /// Returns the filters of all parts, in the order of the parts.
    #[must_use]
    pub fn parts(&self) -> &[PartFilter] {
        &self.parts
    }

    /// Returns true if a row passes the filter.
    #[must_use]
    #[inline]
    pub fn matches(&self, row: crate::RowAddress) -> bool {
        self.part(row.part).is_some_and(|part| part.matches(row.row))
    }

    /// Returns true if no row of any part can pass the filter.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| part.rows_max() == 0)
    }
}

/// Filter on the rows of one part.
#[derive(Debug)]
pub struct PartFilter {
    rows: u32,
    /// Row ranges of the selected stores and brands, in ascending order and disjoint.
    ranges: Option<Vec<Range<u32>>>,
    postings: Vec<RoaringBitmap>,
    price: Option<Price>,
    outside: Option<Outside>,
    in_stock: Option<BooleanArray>,
    on_sale: Option<BooleanArray>,
    unlisted: RoaringBitmap,
    nothing: bool,
}

/// With fewer candidates than one row in this many, checking them one by one is faster than scanning the columns.
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

    /// Free of branches, because the check runs for every row of a part.
    #[inline]
    const fn passes(&self, minor: i64, currency: u8) -> bool {
        (minor >= self.least) & (minor <= self.most) & (currency == self.currency)
    }
}

#[derive(Debug)]
struct Outside {
    prices: Int64Array,
    currencies: UInt8Array,
    /// `None` if the part has no price in that currency. Every price above 0 passes then.
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
                prices: cards.columns.price_min_minor.clone(),
                currencies: cards.columns.currency.clone(),
                currency: cards.currency_code(currency),
            }),
            in_stock: filter.in_stock.then(|| cards.columns.in_stock.clone()),
            on_sale: filter.on_sale.then(|| cards.columns.on_sale.clone()),
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
                    let (prices, currencies) = (cards.columns.price_min_minor.clone(), cards.columns.currency.clone());
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
            // The shortest list excludes most rows.
            new.postings.sort_by_key(RoaringBitmap::len);
            new.nothing = new.postings.first().is_some_and(RoaringBitmap::is_empty);
        }
        new
    }

    /// Returns true if the row at index `row` of the part passes the filter. Unlisted rows never pass.
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

    /// Returns the rows that pass.
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
        // The filter on prices outside a currency has no column scan, because it is rare and its callers need one row
        // only.
        if rows.len() < u64::from(self.rows) / FEW || self.outside.is_some() {
            let passing = rows.iter().filter(|row| self.scalars_match(*row));
            // The rows are ascending by construction, so the fallback is unreachable.
            return RoaringBitmap::from_sorted_iter(passing).unwrap_or_default();
        }
        rows &= RoaringBitmap::from_lsb0_bytes(0, &self.scalar_mask());
        rows
    }

    /// Returns one bit per row, which is set if the columns of the row pass the filter. The scan is free of branches
    /// and covers eight rows per byte.
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
        // The bits after the last row belong to no row.
        if let Some(last) = mask.last_mut().filter(|_| !rows.is_multiple_of(8)) {
            *last &= (1 << (rows % 8)) - 1;
        }
        mask
    }

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

    /// Returns a cheap upper bound on the number of rows that pass.
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

/// Returns the rows of the selected live stores in ascending order, because the stores of a part are in row order.
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
