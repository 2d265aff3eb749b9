//! Tests titles with words between a number and the counted noun, and titles that omit a variety.

use data_matching::{Item, judge};
use data_model::Gtin;
use proptest::prelude::*;

use crate::near::goods;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SharedCode {
    Nothing,
    Sku,
    Barcode,
}

fn are_same(one: &str, other: &str, stated: SharedCode) -> bool {
    let item = |title: &str| -> Item<'static> {
        let mut item = goods(title.to_owned().leak(), ("Title", &["Default Title"]));
        for variant in &mut item.variants {
            variant.sku = Some("DHG-0042").filter(|_| stated == SharedCode::Sku);
            variant.barcode = Gtin::read("4006381333931").filter(|_| stated == SharedCode::Barcode);
        }
        item
    };
    judge(&item(one), &item(other), None).is_ok()
}

const VARIETIES: &[&str] = &["Green", "Lemon", "Rose", "Unscented", "Ashwagandha"];
const GOODS: &[&str] = &["Tea", "Cleansing", "Fish Oil", "Laundry"];
const UNITS: &[&str] = &["Bags", "Wipes", "Capsules", "Sheets", "Pods"];

proptest! {
    #[test]
    fn a_count_is_one_wherever_its_number_stands_and_a_variety_left_out_is_unknown(
        variety in prop::sample::select(VARIETIES),
        another in prop::sample::select(VARIETIES),
        goods in prop::sample::select(GOODS),
        unit in prop::sample::select(UNITS),
        count in 2_u32..500,
        other_count in 2_u32..500,
    ) {
        prop_assume!(variety != another && count != other_count);
        let (full, plain) = (format!("{variety} {goods} {count} {unit}"), format!("{count} {goods} {unit}"));
        prop_assert!(are_same(&full, &plain, SharedCode::Sku), "{full} | {plain}");
        prop_assert!(are_same(&full, &plain, SharedCode::Barcode), "{full} | {plain}");
        prop_assert!(!are_same(&full, &plain, SharedCode::Nothing), "{full} | {plain}");
        let apart = format!("{count} {variety} {goods} {unit}");
        prop_assert!(are_same(&full, &apart, SharedCode::Nothing), "{full} | {apart}");
        for stated in [SharedCode::Nothing, SharedCode::Sku] {
            for twin in [format!("{other_count} {goods} {unit}"), format!("{count} {another} {goods} {unit}")] {
                prop_assert!(!are_same(&full, &twin, stated), "{full} | {twin} | {stated:?}");
            }
        }
    }

    #[test]
    fn a_number_that_is_no_count_stays_a_word(number in 2_u32..20, another in 2_u32..20, unit in prop::sample::select(UNITS)) {
        prop_assume!(number != another);
        let of = |number: &str| format!("Omega {number} Fish {unit}");
        for stated in [SharedCode::Nothing, SharedCode::Sku] {
            prop_assert!(!are_same(&of(&number.to_string()), &of(&another.to_string()), stated));
            prop_assert!(!are_same(&of(&number.to_string()), &of(""), stated));
        }
    }
}
