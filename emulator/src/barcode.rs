//! Barcodes of generated products. A barcode follows from the words that the product is called by, so that stores which sell the
//! same thing state the same, in whatever order they put its words.

use crate::generated::dice::{fold, fold_bytes};

/// Of ten stores so many state barcodes.
const STORES_OF_TEN: u64 = 7;
/// Words of titles that say nothing of the thing.
const IDLE: &[&str] = &["by", "edition", "in", "the"];

/// The barcode that a store states for a variant; `None` for stores and variants without one. A few are wrong, as in
/// real stores: numbers of the store's own, and numbers with a digit mistyped.
pub(crate) fn barcode(shop_id: u64, product: &str, variant: &str) -> Option<String> {
    if fold(&[shop_id, 0x4541_4e31]) % 10 >= STORES_OF_TEN {
        return None;
    }
    let name = fold(&[fold_bytes(words(product).as_bytes()), fold_bytes(variant.as_bytes())]);
    // 890 is what GS1 gives to India.
    let digits = 890_000_000_000 + name % 1_000_000_000;
    let check = check_digit(digits);
    match fold(&[shop_id, name]) % 20 {
        0 => None,
        1 => Some(format!("IH-{}", name % 100_000)),
        2 => Some(format!("{digits}{}", (check + 1) % 10)),
        _ => Some(format!("{digits}{check}")),
    }
}

/// The words of a name that name the thing, each once and in one order.
fn words(name: &str) -> String {
    let name = name.to_lowercase();
    let words = name.split(|letter: char| !letter.is_alphanumeric());
    let mut words: Vec<&str> = words.filter(|word| !word.is_empty() && !IDLE.contains(word)).collect();
    words.sort_unstable();
    words.dedup();
    words.join(" ")
}

/// The check digit of twelve digits: from the right they count three times and once in turn.
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
