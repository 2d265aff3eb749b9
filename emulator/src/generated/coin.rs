/// A currency of generated stores, with the country that uses it.
#[derive(Debug)]
pub(crate) struct Coin {
    /// ISO 4217 currency code.
    pub(crate) code: &'static str,
    /// Number of decimals in price texts.
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
    pub(crate) cities: &'static [(&'static str, &'static str)],
    /// Template for amounts of money in the store.
    pub(crate) money_format: &'static str,
    /// Share of generated stores, out of a thousand.
    share: u64,
}

impl Coin {
    /// Returns a typical retail price in the currency near `rupees`.
    pub(crate) fn price_minor(&self, rupees: u64) -> u64 {
        let exact = rupees.saturating_mul(self.minor_per_1000_rupees) / 1000;
        let steps = (exact / self.step_minor).max(1);
        steps * self.step_minor - self.charm_minor
    }

    /// Returns the currency for a random number `roll` from 0 to 999.
    pub(crate) fn at(mut roll: u64) -> &'static Self {
        for coin in COINS {
            if roll < coin.share {
                return coin;
            }
            roll -= coin.share;
        }
        &COINS[0]
    }

    /// Returns the data of a currency, or those of the rupee if it is unknown.
    pub(crate) fn of(code: &str) -> &'static Self {
        COINS.iter().find(|coin| coin.code == code).unwrap_or(&COINS[0])
    }
}

const INDIA: &[(&str, &str)] = &[
    ("Bengaluru", "Karnataka"),
    ("Mumbai", "Maharashtra"),
    ("Jaipur", "Rajasthan"),
    ("New Delhi", "Delhi"),
    ("Chennai", "Tamil Nadu"),
    ("Kolkata", "West Bengal"),
    ("Hyderabad", "Telangana"),
    ("Ahmedabad", "Gujarat"),
    ("Kochi", "Kerala"),
    ("Guwahati", "Assam"),
];

/// Currencies of generated stores; the first is the most common.
const COINS: &[Coin] = &[
    Coin {
        code: "INR",
        decimals: 2,
        minor_per_1000_rupees: 100_000,
        step_minor: 5_000,
        charm_minor: 100,
        country: "IN",
        offset: "+05:30",
        cities: INDIA,
        money_format: "Rs. {{amount}}",
        share: 720,
    },
    Coin {
        code: "USD",
        decimals: 2,
        minor_per_1000_rupees: 2_200,
        step_minor: 100,
        charm_minor: 1,
        country: "US",
        offset: "-05:00",
        cities: &[("New York", "New York"), ("Portland", "Oregon"), ("Austin", "Texas")],
        money_format: "${{amount}}",
        share: 90,
    },
    Coin {
        code: "EUR",
        decimals: 2,
        minor_per_1000_rupees: 2_000,
        step_minor: 50,
        charm_minor: 0,
        country: "DE",
        offset: "+02:00",
        cities: &[("Berlin", "Berlin"), ("Munich", "Bavaria")],
        money_format: "€{{amount_with_comma_separator}}",
        share: 60,
    },
    Coin {
        code: "GBP",
        decimals: 2,
        minor_per_1000_rupees: 1_700,
        step_minor: 50,
        charm_minor: 0,
        country: "GB",
        offset: "+01:00",
        cities: &[("London", "England"), ("Edinburgh", "Scotland")],
        money_format: "£{{amount}}",
        share: 50,
    },
    Coin {
        code: "JPY",
        decimals: 0,
        minor_per_1000_rupees: 1_800,
        step_minor: 10,
        charm_minor: 0,
        country: "JP",
        offset: "+09:00",
        cities: &[("Kyoto", "Kyōto"), ("Tokyo", "Tōkyō")],
        money_format: "¥{{amount_no_decimals}}",
        share: 30,
    },
    Coin {
        code: "KWD",
        decimals: 3,
        minor_per_1000_rupees: 6_500,
        step_minor: 250,
        charm_minor: 0,
        country: "KW",
        offset: "+03:00",
        cities: &[("Kuwait City", "Al Asimah")],
        money_format: "{{amount}} KD",
        share: 20,
    },
    Coin {
        code: "AED",
        decimals: 2,
        minor_per_1000_rupees: 8_000,
        step_minor: 100,
        charm_minor: 0,
        country: "AE",
        offset: "+04:00",
        cities: &[("Dubai", "Dubai")],
        money_format: "Dhs. {{amount}}",
        share: 20,
    },
    Coin {
        code: "SGD",
        decimals: 2,
        minor_per_1000_rupees: 3_000,
        step_minor: 10,
        charm_minor: 0,
        country: "SG",
        offset: "+08:00",
        cities: &[("Singapore", "")],
        money_format: "${{amount}}",
        share: 10,
    },
];

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
