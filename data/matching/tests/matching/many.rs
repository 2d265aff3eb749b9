//! Checks that products in many stores are found like those in few.

use std::collections::{BTreeMap, BTreeSet};

use data_matching::{Bounds, matches};
use proptest::prelude::*;

use crate::market::{Goods, Product, product};

const BARCODES: [&str; 2] = ["4006381333931", "8901030865275"];

/// Properties that stores selling the same product have in common.
#[derive(Debug, Clone, Copy)]
enum CommonMark {
    /// The stores share the barcode and title words. Every store names itself as the maker.
    Barcode,
    /// The stores share the barcode and the maker. Some titles contain additional words.
    BarcodeAndMaker,
    SkuAndTitle,
    Title,
}

const SHARED: [CommonMark; 4] = [
    CommonMark::Barcode,
    CommonMark::BarcodeAndMaker,
    CommonMark::SkuAndTitle,
    CommonMark::Title,
];

/// Builds one of the two products of a pair as a store sells it. `way` selects the store's spelling.
fn sold(store: u32, shared: CommonMark, (pair, number): (&[&str; 2], usize), way: u8) -> Product {
    let title = pair[number];
    let own = format!("Stall {store} Stores");
    let written = match (shared, way % 4) {
        (CommonMark::BarcodeAndMaker, 0) => format!("{title} Everyday Favourite"),
        (_, 0) => format!("New {title}"),
        (_, 1) => match title.splitn(3, ' ').collect::<Vec<_>>().as_slice() {
            [first, second, rest] => format!("{second} {first} {rest}"),
            _ => title.to_owned(),
        },
        (_, 2) => format!("Lumora {title}"),
        _ => title.to_owned(),
    };
    let vendor = match shared {
        CommonMark::Barcode => own.as_str(),
        _ => "Lumora",
    };
    let has_barcode = matches!(shared, CommonMark::Barcode | CommonMark::BarcodeAndMaker);
    let has_sku = matches!(shared, CommonMark::SkuAndTitle);
    Product {
        barcode: has_barcode.then(|| BARCODES[number].to_owned()),
        sku: has_sku.then(|| format!("LUM-{number}-0042")),
        price_minor: 50_000 + i64::from(way),
        ..product(store, &own, vendor, &written)
    }
}

/// Returns the groups of products that pairs connect, as sets of rows. Unconnected products are left out.
fn clusters(goods: &Goods, rows: usize, bounds: &Bounds) -> BTreeSet<BTreeSet<usize>> {
    fn root(of: &mut [usize], row: usize) -> usize {
        let mut at = row;
        while of[at] != at {
            of[at] = of[of[at]];
            at = of[at];
        }
        at
    }
    let mut of: Vec<usize> = (0..rows).collect();
    for found in matches(goods, bounds) {
        let (one, other) = (root(&mut of, found.one as usize), root(&mut of, found.other as usize));
        of[one] = other;
    }
    let mut sets: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for row in 0..rows {
        sets.entry(root(&mut of, row)).or_default().insert(row);
    }
    sets.into_values().filter(|set| set.len() > 1).collect()
}

fn clusters_of(products: Vec<Product>) -> BTreeSet<BTreeSet<usize>> {
    let rows = products.len();
    clusters(&Goods::of(products), rows, &Bounds::default())
}

/// Generates numbers of stores around the limits and well beyond them.
fn stores() -> impl Strategy<Value = usize> {
    prop_oneof![2_usize..600, 28_usize..36, 60_usize..70]
}

fn ways(stores: impl Strategy<Value = usize>) -> impl Strategy<Value = Vec<u8>> {
    stores.prop_flat_map(|stores| prop::collection::vec(any::<u8>(), stores))
}

const CREAM: [&str; 2] = ["Barrier Repair Face Cream 50 g", "Barrier Repair Body Lotion 200 ml"];

/// Products of one maker that differ in a flavour, count, size, colour or generation.
const TWINS: &[[&str; 2]] = &[
    ["Whey Protein Powder Chocolate 1 kg", "Whey Protein Powder Vanilla 1 kg"],
    ["Green Tea Infusion 50 Bags", "Green Tea Infusion 100 Bags"],
    ["Vitamin C Face Serum 30 ml", "Vitamin C Face Serum 50 ml"],
    ["Trail Running Shoes Blue", "Trail Running Shoes Red"],
    ["Nova Wireless Earbuds Gen 2", "Nova Wireless Earbuds Gen 3"],
    ["Nova T20 Wireless Earbuds", "Nova T25 Wireless Earbuds"],
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_any_number_of_stores_sell_is_one_product_and_each_is_compared_with_few(
        shared in prop::sample::select(&SHARED[..]),
        ways in ways(stores()),
    ) {
        let sold = (0..).zip(&ways).map(|(store, way)| sold(store, shared, (&CREAM, 0), *way));
        let goods = Goods::of(sold.collect());
        // Without cached readings, products are parsed for every comparison.
        let bounds = Bounds { held_max: 0, ..Bounds::default() };
        let found = clusters(&goods, ways.len(), &bounds);
        prop_assert_eq!(found, BTreeSet::from([(0..ways.len()).collect()]));
        let read_max = ways.len() * (bounds.compared_max + 3);
        prop_assert!(goods.read.get() <= read_max, "{} of {read_max}", goods.read.get());
    }

    #[test]
    fn twins_that_many_stores_sell_are_two_products(
        twins in prop::sample::select(TWINS),
        shared in prop::sample::select(&SHARED[..]),
        ways in ways(stores()),
    ) {
        // Every store sells both products, one of them in all its spellings.
        let products = |number| {
            let ways = (0..).zip(&ways);
            ways.map(move |(store, way)| sold(store, shared, (&twins, number), *way))
        };
        let found = clusters_of(products(0).chain(products(1)).collect());
        let stores = ways.len();
        prop_assert_eq!(found, BTreeSet::from([(0..stores).collect(), (stores..2 * stores).collect()]));
    }

    #[test]
    fn stores_that_list_a_product_twice_do_not_part_the_others(
        shared in prop::sample::select(&SHARED[..]),
        ways in ways(3_usize..300),
        twice in (0.0..1.0_f64, 0.0..1.0_f64),
    ) {
        let at = |share: f64| (share * ways.len() as f64) as usize;
        let twice = at(twice.0.min(twice.1))..at(twice.0.max(twice.1));
        let sold = |store: usize| sold(store as u32, shared, (&CREAM, 0), ways[store]);
        let once: Vec<usize> = (0..ways.len()).filter(|store| !twice.contains(store)).collect();
        let again = twice.clone().map(sold);
        let found = clusters_of((0..ways.len()).map(sold).chain(again).collect());
        let wanted = Some(once.into_iter().collect()).filter(|set: &BTreeSet<usize>| set.len() > 1);
        prop_assert_eq!(found, wanted.into_iter().collect());
    }

    #[test]
    fn a_number_that_many_stores_copied_onto_other_goods_merges_nothing(
        stores in stores(),
        is_of_one_maker in any::<bool>(),
        kind in prop::sample::select(&["", "Serum", "Cotton Kurta"][..]),
    ) {
        let copied = |store: usize| {
            let own = format!("Stall {store} Stores");
            let vendor = if is_of_one_maker { "Lumora" } else { own.as_str() };
            // No other store has these words in any spelling.
            let word = |vowel: char| -> String {
                let digits = format!("{store:03}");
                let letters = digits.bytes().map(|digit| char::from(digit - b'0' + b'k'));
                letters.flat_map(|letter| [letter, vowel]).collect()
            };
            let title = format!("{} {} {kind}", word('a'), word('e'));
            Product {
                barcode: Some(BARCODES[0].to_owned()),
                ..product(store as u32, &own, vendor, &title)
            }
        };
        let many = Bounds::default().barcode_rows_max + stores;
        prop_assert_eq!(clusters_of((0..many).map(copied).collect()), BTreeSet::new());
    }
}
