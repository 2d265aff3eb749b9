use std::fmt;

use serde::{Deserialize, Serialize};

/// A barcode that identifies a product worldwide: a Global Trade Item Number of 8, 12, 13 or 14 digits with a correct
/// check digit.
///
/// The same number has several lengths: `0012345678905` equals `012345678905`. A barcode is formatted in the shortest,
/// so that equal products have equal texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gtin(u64);

/// A barcode that a product page states, with the identifiers of its variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedBarcode {
    /// Shopify's id of the variant, if stated.
    pub variant: Option<u64>,
    /// Stock keeping unit (SKU), if stated.
    pub sku: Option<String>,
    /// Text of the barcode.
    pub barcode: String,
}

/// Example barcodes from textbooks and forms that stores leave unchanged.
const EXAMPLES: [u64; 4] = [12_345_670, 12_345_678_905, 123_456_789_012, 1_234_567_890_128];

/// Maximum length of a parsed text, in bytes. A barcode with spaces between its digits is not longer.
const TEXT_BYTES_MAX: usize = 40;

impl Gtin {
    /// Parses a barcode as stores state it: digits, optionally separated by spaces or hyphens.
    ///
    /// Returns `None` for a wrong length, a wrong check digit, one repeated digit or a textbook example. Numbers for
    /// internal use in shops (GS1 prefixes 02, 04 and 20 to 29) and coupon numbers (05, 98 and 99) are rejected too,
    /// because they identify nothing outside a shop.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches('\'');
        if text.len() > TEXT_BYTES_MAX {
            return None;
        }
        let (mut number, mut digits) = (0_u64, 0_usize);
        for character in text.chars() {
            match character {
                ' ' | '-' | '\u{a0}' => continue,
                '0'..='9' if digits < 14 => number = number * 10 + u64::from(character.to_digit(10)?),
                _ => return None,
            }
            digits += 1;
        }
        let is_length = matches!(digits, 8 | 12 | 13 | 14);
        Self::of_number(number).filter(|_| is_length)
    }

    /// Returns the barcode with this [`Gtin::number`], or `None` if [`Gtin::read`] would reject it.
    #[must_use]
    pub fn of_number(number: u64) -> Option<Self> {
        let found = Self(number);
        let is_one = number < 100_000_000_000_000
            && is_checked(number)
            && !is_internal(number)
            && !is_one_digit(number, found.digits())
            && !EXAMPLES.contains(&number);
        is_one.then_some(found)
    }

    /// Returns the digits as a number.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Returns the number of digits in the formatted barcode.
    #[must_use]
    pub const fn digits(self) -> usize {
        match self.0 {
            0..100_000_000 => 8,
            100_000_000..1_000_000_000_000 => 12,
            1_000_000_000_000..10_000_000_000_000 => 13,
            _ => 14,
        }
    }
}

impl fmt::Display for Gtin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0width$}", self.0, width = self.digits())
    }
}

impl Serialize for Gtin {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// From the right, the digits before the check digit are weighted 3 and 1 alternately.
const fn is_checked(number: u64) -> bool {
    let (mut rest, mut sum, mut weight) = (number / 10, number % 10, 3);
    while rest > 0 {
        sum += rest % 10 * weight;
        (rest, weight) = (rest / 10, 4 - weight);
    }
    sum.is_multiple_of(10)
}

/// GS1 reserves ranges of numbers for use within shops and for coupons.
const fn is_internal(number: u64) -> bool {
    if number < 100_000_000 {
        // Internal 8-digit numbers begin with 0 or 2.
        return matches!(number / 10_000_000, 0 | 2);
    }
    // The prefix is the first two digits of the 13-digit form, after the packaging level digit.
    matches!(number / 100_000_000_000 % 100, 2 | 4 | 5 | 20..=29 | 98 | 99)
}

/// People without a barcode type numbers of one repeated digit into required fields.
const fn is_one_digit(number: u64, digits: usize) -> bool {
    let (mut ones, mut at) = (0, 0);
    while at < digits {
        (ones, at) = (ones * 10 + 1, at + 1);
    }
    number == ones * (number % 10)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(barcode: &str) -> Option<String> {
        Gtin::read(barcode).map(|gtin| gtin.to_string())
    }

    #[test]
    fn a_barcode_is_read_in_every_length_and_told_in_the_shortest() {
        assert_eq!(text("8901030865275").as_deref(), Some("8901030865275"));
        assert_eq!(text("'8901030865275 ").as_deref(), Some("8901030865275"));
        assert_eq!(text("890 1030 865275").as_deref(), Some("8901030865275"));
        assert_eq!(text("036000291452").as_deref(), Some("036000291452"));
        assert_eq!(text("0036000291452").as_deref(), Some("036000291452"));
        assert_eq!(text("00036000291452").as_deref(), Some("036000291452"));
        assert_eq!(text("96385074").as_deref(), Some("96385074"));
        assert_eq!(text("18901030865272").as_deref(), Some("18901030865272"));
    }

    #[test]
    fn what_names_no_product_outside_of_a_shop_is_no_barcode() {
        let bad = [
            "",
            "SKU-1",
            "8901030865276",
            "890103086527",
            "89010308652",
            "00000000",
            "0000000000000",
            "2012345678900",
            "0212345678909",
            "0412345678907",
            "9912345678900",
            "12345670",
            "012345678905",
            "1234567890128",
            "44444444444444",
            "4444444444444",
            "555555555555",
            "55555555",
            "189010308652721",
            "890103086527５",
        ];
        for bad in bad {
            assert_eq!(text(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic_and_what_is_read_reads_the_same_again(stated in ".{0,40}") {
            if let Some(gtin) = Gtin::read(&stated) {
                prop_assert_eq!(Gtin::read(&gtin.to_string()), Some(gtin));
                prop_assert_eq!(Gtin::of_number(gtin.number()), Some(gtin));
            }
        }

        #[test]
        fn a_number_is_a_barcode_if_its_digits_are(number in prop_oneof![any::<u64>(), 0..200_000_000_000_000_u64, 10_000_000..99_999_999_u64]) {
            let read = [8, 12, 13, 14].iter().find_map(|width| Gtin::read(&format!("{number:0width$}")));
            prop_assert_eq!(Gtin::of_number(number), read);
        }

        #[test]
        fn of_ten_last_digits_one_is_right_at_most(first in 100_000_000_000_u64..999_999_999_999) {
            let read = (0..10).filter(|digit| Gtin::read(&format!("{first}{digit}")).is_some()).count();
            prop_assert!(read <= 1);
            let right = (0..10).filter(|digit| is_checked(first * 10 + digit)).count();
            prop_assert_eq!(right, 1);
        }

        #[test]
        fn a_barcode_has_one_text_whatever_zeros_stand_before_it(number in 10_000_000_u64..100_000_000_000_000) {
            let spelled = [8, 12, 13, 14].map(|width| format!("{number:0width$}"));
            let read: Vec<Gtin> = spelled.iter().filter_map(|text| Gtin::read(text)).collect();
            prop_assert!(read.windows(2).all(|pair| pair[0] == pair[1]));
            for gtin in read {
                let text = gtin.to_string();
                prop_assert!([8, 12, 13, 14].contains(&text.len()));
                prop_assert_eq!(text.parse::<u64>().unwrap(), number);
            }
        }
    }
}
