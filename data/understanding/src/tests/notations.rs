//! Checks that amounts are read in the notation of any country.

use super::{Meaning, NoBrands, read};

/// Returns the bounds of the only price of a text, in thousandths.
fn bounds(text: &str) -> Vec<u64> {
    let prices = read(text, &NoBrands)
        .parts
        .into_iter()
        .filter_map(|part| match part.meaning {
            Meaning::Price(price) => Some([price.min, price.max]),
            _ => None,
        });
    prices.flatten().flatten().collect()
}

#[test]
fn amounts_are_read_in_any_notation() {
    for (text, amount) in [
        ("Teller unter 12,50 €", 12_500),
        ("Teller bis 12,50 EUR", 12_500),
        ("assiette moins de 12,50 €", 12_500),
        ("plato menos de 12,50 euros", 12_500),
        ("piatto meno di 12,50 euro", 12_500),
        ("plate under €12,50", 12_500),
        ("plate under 12.50 €", 12_500),
        ("Teller unter 1.299 €", 1_299_000),
        ("Teller unter 1.299,50 €", 1_299_500),
        ("assiette sous 1 299,50 €", 1_299_500),
        ("assiette sous 1\u{202f}299 €", 1_299_000),
        ("plate under €1,299.50", 1_299_500),
        ("plate under 12,500 €", 12_500_000),
        ("kurta under ₹1,49,999", 149_999_000),
    ] {
        assert_eq!(bounds(text), [amount], "{text}");
    }
    assert_eq!(bounds("plates between 12,50 and 20,50 euro"), [12_500, 20_500]);
}

#[test]
fn a_currency_with_three_decimals_keeps_them() {
    for (text, amount) in [
        ("perfume under 1.255 kwd", 1_255),
        ("perfume under KWD 1.255", 1_255),
        ("perfume below 1.255 dinar", 1_255),
        ("perfume over 1.254 kwd", 1_254),
        ("perfume under 0.755 kwd", 755),
        ("perfume under 12.345 kwd", 12_345),
        ("perfume under 1,255.5 kwd", 1_255_500),
        ("perfume under 1.2 kwd", 1_200),
    ] {
        assert_eq!(bounds(text), [amount], "{text}");
    }
    assert_eq!(bounds("perfume between 1.251 and 1.254 kwd"), [1_251, 1_254]);
}

#[test]
fn an_amount_finer_than_its_currency_is_not_cut() {
    assert!(bounds("plate under 1299.505 €").is_empty());
}
