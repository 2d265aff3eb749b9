use data_model::{CurrencyCode, Money};

use super::reason::Nonsense;

/// Number of decimals of amounts in the Ajax API. Amounts are hundredths of the currency's unit, even if the currency
/// has no decimals: 1,500 yen are 150000 (platform: Ajax API, product `.js`).
const HUNDREDTHS_DECIMALS: u32 = 2;

/// Converts an amount of the Ajax API to minor units without rounding.
///
/// Currencies with three decimals are rejected, because hundredths cannot represent all their amounts.
pub(crate) fn from_hundredths(hundredths: i64, currency: CurrencyCode) -> Result<i64, Nonsense> {
    let exponent = currency.exponent();
    if exponent > HUNDREDTHS_DECIMALS {
        return Err(Nonsense::TooCoarse { currency });
    }
    let divisor = 10_i64.pow(HUNDREDTHS_DECIMALS - exponent);
    if hundredths % divisor != 0 {
        return Err(Nonsense::Amount(format!("{hundredths} hundredths of {currency}")));
    }
    let money = Money::from_minor(hundredths / divisor, currency);
    money
        .map(Money::minor)
        .map_err(|error| Nonsense::Amount(error.to_string()))
}

/// Converts a decimal of the Storefront API (`"25.0"`) to minor units without rounding.
pub(crate) fn from_decimal(text: &str, currency: CurrencyCode) -> Result<i64, Nonsense> {
    let money = Money::parse_decimal(text, currency);
    money
        .map(Money::minor)
        .map_err(|error| Nonsense::Amount(error.to_string()))
}

/// Returns the list price only if it is above the price. An equal or lower list price is no markdown.
pub(crate) fn list_price(compare_at_minor: Option<i64>, price_minor: i64) -> Option<i64> {
    compare_at_minor.filter(|compare_at| *compare_at > price_minor)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn code(text: &str) -> CurrencyCode {
        text.parse().unwrap()
    }

    #[test]
    fn hundredths_are_hundredths_in_every_currency() {
        assert_eq!(from_hundredths(39_900, code("INR")), Ok(39_900));
        assert_eq!(from_hundredths(150_000, code("JPY")), Ok(1_500));
        assert!(matches!(
            from_hundredths(150_050, code("JPY")),
            Err(Nonsense::Amount(_))
        ));
        assert!(matches!(
            from_hundredths(12_345, code("KWD")),
            Err(Nonsense::TooCoarse { .. })
        ));
        assert!(matches!(from_hundredths(-1, code("INR")), Err(Nonsense::Amount(_))));
    }

    proptest! {
        #[test]
        fn both_interfaces_state_the_same_amount(minor in 0_i64..1_000_000_000_000, at in 0_usize..3) {
            let currency = code(["INR", "JPY", "USD"][at]);
            let exponent = currency.exponent();
            let scale = 10_i64.pow(exponent);
            let (whole, fraction) = (minor / scale, minor % scale);
            let width = exponent as usize;
            let decimal = if exponent == 0 { format!("{whole}.0") } else { format!("{whole}.{fraction:0width$}") };
            let hundredths = minor * 10_i64.pow(2 - exponent);
            prop_assert_eq!(from_decimal(&decimal, currency), Ok(minor));
            prop_assert_eq!(from_hundredths(hundredths, currency), Ok(minor));
        }
    }
}
