use serde_json::{Value, json};

/// Formats a price text like the platform's decimals: at least one decimal and no more trailing zeros. Returns `None`
/// for a text that is no decimal number.
pub(super) fn decimal(price: &str) -> Option<String> {
    let (whole, fraction) = price.split_once('.').unwrap_or((price, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let whole = Some(whole.trim_start_matches('0'))
        .filter(|text| !text.is_empty())
        .unwrap_or("0");
    let fraction = Some(fraction.trim_end_matches('0'))
        .filter(|text| !text.is_empty())
        .unwrap_or("0");
    Some(format!("{whole}.{fraction}"))
}

pub(super) fn money(price: &str, currency: &str) -> Option<Value> {
    Some(json!({ "amount": decimal(price)?, "currencyCode": currency }))
}

/// Parses a price as a number, for comparisons.
pub(super) fn number(price: &str) -> Option<f64> {
    decimal(price)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimals_are_trimmed_to_one() {
        let of = |price: &str| decimal(price).unwrap();
        assert_eq!(
            ["25.00", "12.50", "7.25", "1200", "13.250", "0.00", "007.10"].map(of),
            ["25.0", "12.5", "7.25", "1200.0", "13.25", "0.0", "7.1"]
        );
        assert_eq!(
            ["", "free", "-1.00", ".5", "1e3", "1.2.3"].map(decimal),
            [const { None }; 6]
        );
    }

    proptest! {
        #[test]
        fn a_decimal_is_the_same_amount(minor in 0u64..1_000_000_000_000, decimals in 0u32..4) {
            let mut text = Vec::new();
            crate::json::push_amount(&mut text, minor, decimals);
            let written = decimal(std::str::from_utf8(&text).unwrap()).unwrap();
            let (whole, fraction) = written.split_once('.').unwrap();
            let padded = format!("{whole}{fraction:0<4}").parse::<u64>().unwrap();
            prop_assert_eq!(padded, minor * 10_u64.pow(4 - decimals));
            prop_assert!(fraction == "0" || !fraction.ends_with('0'));
        }
    }
}
