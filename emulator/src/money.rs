//! Amounts in minor units of a currency, with the exponents of ISO 4217. All functions are pure.

use iso_currency::Currency;

use crate::json::push_amount;

/// Returns the number of decimals of a currency. The default is 2, for currencies that ISO 4217 does not list or lists
/// without a number.
pub(crate) fn exponent(currency: &str) -> u32 {
    let known = Currency::from_code(currency).and_then(Currency::exponent);
    known.map_or(2, u32::from).min(4)
}

/// Parses a price text to minor units. Additional digits are rounded half up. Returns `None` if the text is no price.
pub(crate) fn minor(price: &str, exponent: u32) -> Option<u64> {
    let (whole, fraction) = price.split_once('.').unwrap_or((price, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let places = exponent as usize;
    let kept: u64 = match fraction.get(..places) {
        Some("") => 0,
        Some(digits) => digits.parse().ok()?,
        None => format!("{fraction:0<places$}").parse().ok()?,
    };
    let rounds_up = fraction.as_bytes().get(places).is_some_and(|digit| *digit >= b'5');
    let whole: u64 = whole.parse().ok()?;
    whole
        .checked_mul(10_u64.pow(exponent))?
        .checked_add(kept + u64::from(rounds_up))
}

/// Formats an amount as the API does: `25.0`, `12.5`, `7.25`.
pub(crate) fn decimal_of(minor: u64, exponent: u32) -> String {
    let mut text = Vec::new();
    push_amount(&mut text, minor, exponent);
    let text = String::from_utf8(text).unwrap_or_default();
    match text.split_once('.') {
        None => format!("{text}.0"),
        Some((whole, fraction)) => {
            let fraction = fraction.trim_end_matches('0');
            format!("{whole}.{}", if fraction.is_empty() { "0" } else { fraction })
        }
    }
}

/// Returns `percent` of an amount, rounded half up.
pub(crate) fn percent_of(amount_minor: u64, percent: u32) -> u64 {
    let exact = u128::from(amount_minor) * u128::from(percent);
    u64::try_from((exact + 50) / 100).unwrap_or(u64::MAX)
}

/// Splits an amount in proportion to the weights, by largest remainder. The parts sum up to the amount. If the amount
/// is at most the sum of the weights, no part exceeds its weight.
pub(crate) fn split(amount_minor: u64, weights: &[u64]) -> Vec<u64> {
    let sum: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    if sum == 0 {
        return vec![0; weights.len()];
    }
    let shares: Vec<(u64, u128)> = weights
        .iter()
        .map(|weight| {
            let exact = u128::from(amount_minor) * u128::from(*weight);
            (u64::try_from(exact / sum).unwrap_or(u64::MAX), exact % sum)
        })
        .collect();
    let mut parts: Vec<u64> = shares.iter().map(|(part, _)| *part).collect();
    let mut left = amount_minor.saturating_sub(parts.iter().sum());
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|nth| (std::cmp::Reverse(shares[*nth].1), *nth));
    for nth in order {
        if left == 0 {
            break;
        }
        parts[nth] += 1;
        left -= 1;
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn amounts_have_the_decimals_of_their_currency() {
        assert_eq!(["INR", "JPY", "KWD", "???"].map(exponent), [2, 0, 3, 2]);
        assert_eq!(minor("499.00", 2), Some(49_900));
        assert_eq!(minor("1200.00", 0), Some(1_200));
        assert_eq!(minor("13.25", 3), Some(13_250));
        assert_eq!(minor("1.005", 2), Some(101));
        assert_eq!(minor("7", 2), Some(700));
        assert_eq!(["", "free", "-1", "1e3"].map(|price| minor(price, 2)), [None; 4]);
        assert_eq!(
            [(2_500, 2), (1_250, 2), (725, 2), (1_200, 0), (13_250, 3)]
                .map(|(amount, places)| decimal_of(amount, places)),
            ["25.0", "12.5", "7.25", "1200.0", "13.25"]
        );
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(amount in 0u64..1_000_000_000_000, exponent in 0u32..4) {
            prop_assert_eq!(minor(&decimal_of(amount, exponent), exponent), Some(amount));
        }

        #[test]
        fn parts_sum_up_and_none_is_larger_than_its_weight(
            weights in proptest::collection::vec(0u64..10_000_000, 0..20), share in 0u64..=1000,
        ) {
            let sum: u64 = weights.iter().sum();
            let amount = sum * share / 1000;
            let parts = split(amount, &weights);
            prop_assert_eq!(parts.iter().sum::<u64>(), amount);
            prop_assert!(parts.iter().zip(&weights).all(|(part, weight)| part <= weight));
        }

        #[test]
        fn a_percentage_is_between_nothing_and_all(amount in 0u64..1_000_000_000, percent in 0u32..=100) {
            let part = percent_of(amount, percent);
            prop_assert!(part <= amount);
            let distance = (part * 100).abs_diff(amount * u64::from(percent));
            prop_assert!(distance <= 50);
        }
    }
}
