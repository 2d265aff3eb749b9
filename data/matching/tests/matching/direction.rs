use data_matching::{Judgement, Veto, judge};
use proptest::prelude::*;

use crate::near::goods;

const PARTS: &[&str] = &[
    "Nova",
    "T20",
    "20",
    "X20",
    "20s",
    "T20+",
    "plus",
    "Pro",
    "II",
    "III",
    "red",
    "black",
    "M",
    "L",
    "XL",
    "XXL",
    "30 ml",
    "2 x 30 ml",
    "pack of 2",
    "5%",
    "5G",
    "USB-C",
    "USB-A",
    "in",
    "on",
    "for men",
    "for all",
    "women",
    "kids",
    "Dhaga",
    "glass",
    "jar",
    "bottle",
    "new",
    "best",
    "earbuds",
    "ear buds",
    "batteries",
    "battery",
    "10 in",
    "25 cm",
    "size",
    "7",
    "8",
    "20 Bags",
    "20 earbuds Bags",
    "Bags",
];

/// Generates the words of a title, and nearly the same words in a different order.
fn titles() -> impl Strategy<Value = (Vec<&'static str>, Vec<&'static str>)> {
    let part = || prop::sample::select(PARTS);
    let parts = (
        prop::collection::vec(part(), 2..6),
        prop::option::of(part()),
        any::<bool>(),
    );
    parts.prop_flat_map(|(parts, extra, drops)| {
        let mut others = parts.clone();
        others.extend(extra);
        if drops {
            others.remove(0);
        }
        (Just(parts), Just(others).prop_shuffle())
    })
}

fn around() -> impl Strategy<Value = (&'static str, Vec<&'static str>, Option<&'static str>, i64)> {
    let values = ["M", "L", "7", "8", "Red", "Light Blue", "30 ml", "Pack of 2"].as_slice();
    (
        prop::sample::select(["Size", "Color", "Title"].as_slice()),
        prop::collection::vec(prop::sample::select(values), 0..4),
        prop::option::of(prop::sample::select(
            ["Earbuds", "Men's Shoes", "Jars & Bottles"].as_slice(),
        )),
        0_i64..4,
    )
}

proptest! {
    #[test]
    fn no_judgement_has_a_direction(titles in titles(), arounds in (around(), around())) {
        let item = |parts: Vec<&'static str>, around: (&'static str, Vec<&'static str>, Option<&'static str>, i64)| {
            let (option, values, kind, price) = around;
            let mut item = goods(parts.join(" ").leak(), (option, values.leak()));
            item.product_type = kind;
            item.variants.iter_mut().for_each(|variant| variant.price_minor = price * 40_000);
            item
        };
        let (one, other) = (item(titles.0, arounds.0), item(titles.1, arounds.1));
        let told = |judged: Result<Judgement, Veto>| {
            judged.ok().map(|judged| (judged.basis, (judged.confidence * 1000.0).round()))
        };
        prop_assert_eq!(told(judge(&one, &other, None)), told(judge(&other, &one, None)), "{:?} {:?}", one, other);
    }
}
