use std::sync::LazyLock;

use crate::table::rows;

/// A currency of generated stores, with the country that uses it.
#[derive(Debug)]
pub(crate) struct Coin {
    /// ISO 4217 currency code.
    pub(crate) code: &'static str,
    pub(crate) decimals: u32,
    /// Value of a thousand rupees in minor units (with `decimals` decimals).
    minor_per_1000_rupees: u64,
    /// Step to which prices are rounded before `charm` is subtracted.
    step_minor: u64,
    charm_minor: u64,
    /// ISO 3166-1 alpha-2 country code.
    pub(crate) country: &'static str,
    /// UTC offset of the shop's clock, as in its timestamps.
    pub(crate) offset: &'static str,
    /// Cities in the country, each with its province.
    pub(crate) cities: Vec<(&'static str, &'static str)>,
    /// Template for amounts of money in the store.
    pub(crate) money_format: &'static str,
    /// Share of generated stores in thousandths.
    share: u64,
}

impl Coin {
    fn read(row: &[&'static str]) -> Option<Self> {
        let &[
            code,
            decimals,
            minor,
            step,
            charm,
            country,
            offset,
            money_format,
            share,
            cities,
        ] = row
        else {
            return None;
        };
        Some(Self {
            code,
            decimals: decimals.parse().ok()?,
            minor_per_1000_rupees: minor.parse().ok()?,
            step_minor: step.parse().ok()?,
            charm_minor: charm.parse().ok()?,
            country,
            offset,
            cities: cities.split('|').filter_map(|city| city.split_once('/')).collect(),
            money_format,
            share: share.parse().ok()?,
        })
    }

    /// Returns a typical retail price in the currency near `rupees`.
    pub(crate) fn price_minor(&self, rupees: u64) -> u64 {
        let exact = rupees.saturating_mul(self.minor_per_1000_rupees) / 1000;
        let steps = (exact / self.step_minor).max(1);
        steps * self.step_minor - self.charm_minor
    }

    /// Returns the currency for a random number `roll` from 0 to 999.
    pub(crate) fn at(mut roll: u64) -> &'static Self {
        for coin in COINS.iter() {
            if roll < coin.share {
                return coin;
            }
            roll -= coin.share;
        }
        &COINS[0]
    }

    /// Returns the currency with this code, or the rupee if the code is unknown.
    pub(crate) fn of(code: &str) -> &'static Self {
        COINS.iter().find(|coin| coin.code == code).unwrap_or(&COINS[0])
    }
}

/// Currencies of generated stores; the first is the most common.
static COINS: LazyLock<Vec<Coin>> = LazyLock::new(|| {
    rows(include_str!("../../data/coins.tsv"))
        .filter_map(|row| Coin::read(&row))
        .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_roll_has_its_coin_and_rupees_are_the_usual_one() {
        assert_eq!(COINS.iter().map(|coin| coin.share).sum::<u64>(), 1000);
        assert_eq!(
            (Coin::at(0).code, Coin::at(719).code, Coin::at(999).code),
            ("INR", "INR", "SGD")
        );
    }

    #[test]
    fn prices_are_what_shops_write() {
        assert_eq!(Coin::of("INR").price_minor(520), 49_900);
        assert_eq!(Coin::of("USD").price_minor(1_000), 2_199);
        assert_eq!(Coin::of("JPY").price_minor(1_000), 1_800);
        assert_eq!(Coin::of("KWD").price_minor(2_000), 13_000);
        assert!(COINS.iter().all(|coin| coin.price_minor(0) > 0));
    }
}
