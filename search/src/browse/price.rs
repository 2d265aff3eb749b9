use data_index::Release;
use data_model::CurrencyCode;

use super::bits::Bits;
use super::count::Base;
use super::narrow::FilteredRows;
use super::rows::Rows;
use super::spread::{Limits, Spread, each_price};

/// Distribution of the products' lowest prices in one currency, without prices of 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prices {
    /// Currency of the prices.
    pub currency: CurrencyCode,
    /// Lowest and highest price. `None` without prices.
    pub ends: Option<(i64, i64)>,
    /// Histogram bins, ascending.
    pub bins: Vec<Bin>,
}

/// Histogram bin, from its lower limit to below its upper limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bin {
    /// Lower limit in minor units.
    pub from_minor: i64,
    /// Upper limit in minor units.
    pub to_minor: i64,
    /// Number of prices in the bin.
    pub count: u32,
}

/// Counts the prices of the rows that pass every filter except the price range.
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

/// Returns the lowest and the highest price of a set that is most of a scope, by scanning inwards from the scope's own
/// ends.
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
