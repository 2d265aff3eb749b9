//! Barcodes of generated products. A barcode is computed from the words of the product's name, in any order, so that
//! stores that sell the same product state the same barcode.

use crate::generated::dice::{fold, fold_bytes};

/// Number of stores in ten that state barcodes.
const STORES_OF_TEN: u64 = 7;
/// Words in titles that do not identify the product.
const IDLE: &[&str] = &["by", "edition", "in", "the"];

/// Returns the barcode that a store states for a variant, if any. A few barcodes are wrong, as in real stores: the
/// store's own numbers, or numbers with a mistyped digit.
pub(crate) fn barcode(shop_id: u64, product: &str, variant: &str) -> Option<String> {
    if fold(&[shop_id, 0x4541_4e31]) % 10 >= STORES_OF_TEN {
        return None;
    }
    let name = fold(&[fold_bytes(words(product).as_bytes()), fold_bytes(variant.as_bytes())]);
    // 890 is the GS1 prefix of India.
    let digits = 890_000_000_000 + name % 1_000_000_000;
    let check = check_digit(digits);
    match fold(&[shop_id, name]) % 20 {
        0 => None,
        1 => Some(format!("IH-{}", name % 100_000)),
        2 => Some(format!("{digits}{}", (check + 1) % 10)),
        _ => Some(format!("{digits}{check}")),
    }
}

/// Returns the words that identify the product, sorted and without duplicates.
fn words(name: &str) -> String {
    let name = name.to_lowercase();
    let words = name.split(|letter: char| !letter.is_alphanumeric());
    let mut words: Vec<&str> = words.filter(|word| !word.is_empty() && !IDLE.contains(word)).collect();
    words.sort_unstable();
    words.dedup();
    words.join(" ")
}

/// Returns the EAN-13 check digit of twelve digits. From the right, the digits have weights 3 and 1 alternately.
const fn check_digit(digits: u64) -> u64 {
    let (mut rest, mut sum, mut weight) = (digits, 0, 3);
    while rest > 0 {
        sum += rest % 10 * weight;
        (rest, weight) = (rest / 10, 4 - weight);
    }
    (10 - sum % 10) % 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_variants_of_some_stores_have_a_barcode_that_follows_from_their_name() {
        assert_eq!(check_digit(890_103_086_527), 5);
        let stating: Vec<u64> = (0..100)
            .filter(|shop| barcode(*shop, "Tea", "250 g").is_some())
            .collect();
        assert!((50..90).contains(&stating.len()), "{}", stating.len());
        let mut names = (0..200).map(|number| format!("Tea {number}"));
        let shared = names.any(|name| {
            let both = |shop: u64| barcode(shop, &name, "250 g").filter(|code| code.len() == 13);
            both(stating[0]).is_some() && both(stating[0]) == both(stating[1])
        });
        assert!(shared);
        assert_eq!(words("Green Tea - Iris Edition"), words("Iris™ Green Tea: Tea"));
        assert_ne!(words("Green Tea - Iris Edition"), words("Green Tea - Echo Edition"));
        let stated: Vec<String> = (0..200)
            .filter_map(|number| barcode(stating[0], &format!("Tea {number}"), ""))
            .collect();
        assert!(stated.iter().any(|code| code.starts_with("IH-")));
        assert!(stated.iter().filter(|code| code.len() == 13).count() > 150);
    }
}
