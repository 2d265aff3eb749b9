use data_index::Release;
use data_model::{CurrencyCode, Money};

use super::bits::{Bits, ones};
use super::rows::Rows;

/// Maximum number of bins of equal width. One more bin contains the higher prices.
const BINS_MAX: i64 = 11;
/// Percentage of prices that the bins divide evenly, so that a few expensive products do not push all others into one
/// bin.
const MOST_PERCENT: usize = 95;

/// Distribution of a scope's prices before any filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spread {
    pub(super) rows: u64,
    pub(super) min_minor: i64,
    pub(super) max_minor: i64,
    pub(super) limits: Limits,
    pub(super) counts: Vec<u32>,
}

/// Round price limits, which are `first`, `first + step`, … and a last limit above all prices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    first: i64,
    step: i64,
    bins: usize,
    end: i64,
}

impl Spread {
    /// Returns `None` if no row of the scope has a price in the currency.
    pub(super) fn of(release: &Release, rows: &Rows, scope: &Bits, currency: CurrencyCode) -> Option<Self> {
        let mut of_currency = scope.clone();
        of_currency.and(scope.part_of(rows.in_currency(currency)?));
        let mut prices = Vec::new();
        each_price(release, rows, &of_currency, |price| prices.push(price));
        let min_minor = *prices.iter().min()?;
        let max_minor = *prices.iter().max()?;
        let most = (prices.len() - 1) * MOST_PERCENT / 100;
        let (_, most_below, _) = prices.select_nth_unstable(most);
        let limits = Limits::of(min_minor, *most_below, max_minor);
        let mut counts = vec![0; limits.bins];
        for price in &prices {
            if let Some(count) = counts.get_mut(limits.bin(*price)) {
                *count += 1;
            }
        }
        Some(Self {
            rows: prices.len() as u64,
            min_minor,
            max_minor,
            limits,
            counts,
        })
    }
}

/// Calls `tell` with the lowest price of each row.
pub(super) fn each_price(release: &Release, rows: &Rows, of: &Bits, mut tell: impl FnMut(i64)) {
    for segment in rows.segments(release, &of.window()) {
        let prices = segment.part.cards().prices_min();
        let words = of.words.get(segment.words).unwrap_or_default();
        for (at, word) in (segment.first..).zip(words) {
            for bit in ones(*word) {
                if let Some(price) = prices.get(at * 64 + bit as usize) {
                    tell(*price);
                }
            }
        }
    }
}

impl Limits {
    pub(super) fn of(min: i64, most_below: i64, max: i64) -> Self {
        let step = round_up(most_below.saturating_sub(min) / (BINS_MAX - 1) + 1);
        let first = min.div_euclid(step).saturating_mul(step);
        let bin = |price: i64| usize::try_from(price.saturating_sub(first) / step).unwrap_or(usize::MAX);
        let even = bin(most_below) + 1;
        let bins = if bin(max) < even { even } else { even + 1 };
        let next = max.div_euclid(step).saturating_add(1).saturating_mul(step);
        // The limit must not exceed the maximum price of a request.
        let next = next.min(Money::MINOR_MAX.max(max.saturating_add(1)));
        Self {
            first,
            step,
            bins,
            end: next,
        }
    }

    pub(super) const fn bins(&self) -> usize {
        self.bins
    }

    /// The price must be of the scope.
    pub(super) fn bin(&self, price: i64) -> usize {
        let bin = price.saturating_sub(self.first) / self.step;
        usize::try_from(bin).unwrap_or(0).min(self.bins - 1)
    }

    /// Returns the lowest price of a bin, and the lowest price above it.
    pub(super) fn of_bin(&self, bin: usize) -> (i64, i64) {
        let limit = |bin: usize| {
            let steps = i64::try_from(bin).unwrap_or(i64::MAX);
            self.first.saturating_add(self.step.saturating_mul(steps))
        };
        (limit(bin), if bin + 1 == self.bins { self.end } else { limit(bin + 1) })
    }
}

/// Rounds up to the next of 1, 2, 5, 10, 20, 50, …
fn round_up(step: i64) -> i64 {
    let mut unit: i64 = 1;
    loop {
        for round in [1, 2, 5] {
            let round = unit.saturating_mul(round);
            if round >= step {
                return round;
            }
        }
        unit = unit.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn limits_are_round() {
        let limits = Limits::of(49_900, 240_000, 9_000_000);
        let bins: Vec<_> = (0..limits.bins()).map(|bin| limits.of_bin(bin)).collect();
        assert_eq!(bins.first(), Some(&(40_000, 60_000)));
        assert_eq!(bins.last(), Some(&(260_000, 9_020_000)));
        assert_eq!(Limits::of(100, 100, 100).of_bin(0), (100, 101));
    }

    proptest! {
        #[test]
        fn every_price_lies_in_one_of_a_dozen_bins(
            mut prices in prop::collection::vec(prop_oneof![0_i64..100_000, Just(i64::MAX), Just(0)], 3), at in 0_usize..3
        ) {
            prices.sort_unstable();
            let limits = Limits::of(prices[0], prices[1], prices[2]);
            prop_assert!((1..=12).contains(&limits.bins()), "{:?}", limits);
            let (from, to) = limits.of_bin(limits.bin(prices[at]));
            prop_assert!(from <= prices[at] && (prices[at] < to || to == i64::MAX), "{:?}", limits);
            for bin in 1..limits.bins() {
                prop_assert_eq!(limits.of_bin(bin - 1).1, limits.of_bin(bin).0);
            }
        }
    }
}
