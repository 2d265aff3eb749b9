use data_index::Release;
use data_model::CurrencyCode;

use super::bits::Bits;
use super::count::Base;
use super::narrow::FilteredRows;
use super::rows::Rows;
use super::spread::{Limits, Spread, each_price};

/// The lowest prices of products, those in one currency; 0 is no price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prices {
    /// The currency of all of them.
    pub currency: CurrencyCode,
    /// Lowest and highest; `None` when there are none.
    pub ends: Option<(i64, i64)>,
    /// Ascending.
    pub bins: Vec<Bin>,
}

/// The number of prices from one limit to below the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bin {
    /// The lower limit.
    pub from_minor: i64,
    /// The upper limit.
    pub to_minor: i64,
    /// The number of prices between the limits.
    pub count: u32,
}

/// The prices of the rows that pass every filter but the price range.
pub(super) fn prices(
    release: &Release,
    rows: &Rows,
    base: &Base,
    narrowed: &FilteredRows,
    currency: CurrencyCode,
) -> Prices {
    let none = Prices {
        currency,
        ends: None,
        bins: Vec::new(),
    };
    let (Some(spread), Some(words)) = (base.spread(currency), rows.in_currency(currency)) else {
        return none;
    };
    if !narrowed.filtered {
        return Prices {
            ends: Some((spread.min_minor, spread.max_minor)),
            bins: bins(&spread.limits, &spread.counts),
            ..none
        };
    }
    let mut left = narrowed.all.clone();
    if let Some(only) = &narrowed.only_price {
        left.words
            .iter_mut()
            .zip(&only.words)
            .for_each(|(word, bits)| *word |= bits);
    }
    left.and(narrowed.scope.part_of(words));
    let mut counts = vec![0; spread.limits.bins()];
    let ends = if left.len() * 2 > spread.rows {
        counts.copy_from_slice(&spread.counts);
        let mut fallen = left.lacking(&narrowed.scope.words);
        fallen.and(narrowed.scope.part_of(words));
        each_price(release, rows, &fallen, |price| {
            if let Some(count) = counts.get_mut(spread.limits.bin(price)) {
                *count -= 1;
            }
        });
        ends_by_order(release, rows, &left, spread, currency)
    } else {
        let mut ends: Option<(i64, i64)> = None;
        each_price(release, rows, &left, |price| {
            let (min, max) = ends.unwrap_or((price, price));
            ends = Some((min.min(price), max.max(price)));
            if let Some(count) = counts.get_mut(spread.limits.bin(price)) {
                *count += 1;
            }
        });
        ends
    };
    Prices {
        ends,
        bins: bins(&spread.limits, &counts),
        ..none
    }
}

fn bins(limits: &Limits, counts: &[u32]) -> Vec<Bin> {
    let bin = |(at, count): (usize, &u32)| {
        let (from_minor, to_minor) = limits.of_bin(at);
        Bin {
            from_minor,
            to_minor,
            count: *count,
        }
    };
    counts.iter().enumerate().map(bin).collect()
}

/// The lowest and the highest price of a set that is most of a scope, found from the scope's own ends inwards.
fn ends_by_order(
    release: &Release,
    rows: &Rows,
    left: &Bits,
    spread: &Spread,
    currency: CurrencyCode,
) -> Option<(i64, i64)> {
    let price = |row: u32| {
        rows.row(release, row)
            .map(|(part, at)| part.cards().price_min_minor(at))
    };
    let ascending = rows.cheapest(currency);
    let from = ascending.partition_point(|row| price(*row).is_some_and(|price| price < spread.min_minor));
    let to = ascending.partition_point(|row| price(*row).is_some_and(|price| price <= spread.max_minor));
    let within = ascending.get(from..to).unwrap_or_default();
    let lowest = within.iter().find(|row| left.contains(**row))?;
    let highest = within.iter().rev().find(|row| left.contains(**row))?;
    Some((price(*lowest)?, price(*highest)?))
}
