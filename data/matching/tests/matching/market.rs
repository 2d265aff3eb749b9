use std::cell::Cell;

use data_matching::{Bounds, Catalogue, Item, ItemVariant, ProductNames, matches};
use data_model::Gtin;
use proptest::prelude::*;

/// Products of some stores, with a count of those that are read in full.
pub(crate) struct Goods {
    products: Vec<Product>,
    pub(crate) read: Cell<usize>,
}

#[derive(Debug, Clone)]
pub(crate) struct Product {
    pub(crate) store: u32,
    pub(crate) brand: String,
    pub(crate) vendor: String,
    pub(crate) title: String,
    pub(crate) barcode: Option<String>,
    pub(crate) sku: Option<String>,
    pub(crate) price_minor: i64,
}

impl Product {
    fn gtin(&self) -> Option<Gtin> {
        Gtin::read(self.barcode.as_deref()?)
    }
}

impl Goods {
    pub(crate) fn of(products: Vec<Product>) -> Self {
        Self {
            products,
            read: Cell::new(0),
        }
    }

    fn pairs(&self) -> Vec<(String, String)> {
        let found = matches(self, &Bounds::default()).into_iter();
        let title = |row: u32| self.products[row as usize].title.clone();
        found.map(|found| (title(found.one), title(found.other))).collect()
    }
}

impl Catalogue for Goods {
    fn rows(&self) -> u32 {
        self.products.len() as u32
    }

    fn named(&self, row: u32) -> ProductNames<'_> {
        let product = &self.products[row as usize];
        ProductNames {
            store: product.store,
            brand: &product.brand,
            vendor: Some(&product.vendor),
            title: &product.title,
        }
    }

    fn barcodes(&self, row: u32, found: &mut dyn FnMut(Gtin)) {
        self.products[row as usize].gtin().into_iter().for_each(found);
    }

    fn item(&self, row: u32) -> Item<'_> {
        self.read.set(self.read.get() + 1);
        let product = &self.products[row as usize];
        Item {
            brand: &product.brand,
            vendor: Some(&product.vendor),
            title: &product.title,
            currency: "INR",
            variants: vec![ItemVariant {
                id: u64::from(row),
                barcode: product.gtin(),
                sku: product.sku.as_deref(),
                price_minor: product.price_minor,
                ..ItemVariant::default()
            }],
            ..Item::default()
        }
    }

    fn similarity(&self, _: u32, _: u32) -> Option<f32> {
        None
    }
}

pub(crate) fn product(store: u32, brand: &str, vendor: &str, title: &str) -> Product {
    Product {
        store,
        brand: brand.to_owned(),
        vendor: vendor.to_owned(),
        title: title.to_owned(),
        barcode: None,
        sku: None,
        price_minor: 50_000,
    }
}

#[test]
fn goods_of_a_maker_are_found_in_the_store_that_sells_them_again() {
    let goods = Goods::of(vec![
        product(0, "Lumora", "Lumora", "Niacinamide 10% Face Serum 30 ml"),
        product(0, "Lumora", "Lumora", "Niacinamide 5% Face Serum 30 ml"),
        product(1, "Glowmart", "Lumora", "Lumora Face Serum 10% Niacinamide 30ml"),
        product(1, "Glowmart", "Skintale", "Skintale Face Serum 10% Niacinamide 30ml"),
        product(2, "Ojas", "Ojas", "Niacinamide 10% Face Serum 30 ml"),
    ]);
    assert_eq!(
        goods.pairs(),
        [(
            "Niacinamide 10% Face Serum 30 ml".to_owned(),
            "Lumora Face Serum 10% Niacinamide 30ml".to_owned()
        )]
    );
}

#[test]
fn the_same_barcode_is_found_whoever_the_maker_is_said_to_be() {
    let mut one = product(0, "Lumora", "Lumora", "Barrier Cream");
    let mut other = product(
        1,
        "Glowmart",
        "Glowmart Select",
        "Ceramide Barrier Cream by Lumora 50 g",
    );
    one.barcode = Some("4006381333931".to_owned());
    other.barcode = Some("4006381333931".to_owned());
    assert_eq!(Goods::of(vec![one.clone(), other.clone()]).pairs().len(), 1);
    // The barcode has a wrong check digit.
    one.barcode = Some("4006381333932".to_owned());
    other.barcode = Some("4006381333932".to_owned());
    assert_eq!(Goods::of(vec![one, other]).pairs().len(), 0);
}

#[test]
fn a_barcode_below_everything_of_a_store_says_nothing() {
    let copied = |store: u32, brand: &'static str, count: usize| {
        let titles = ["Barrier Cream", "Clay Mask", "Lip Balm", "Face Mist", "Body Oil"];
        titles.into_iter().take(count).map(move |title| Product {
            barcode: Some("4006381333931".to_owned()),
            ..product(store, brand, "Lumora", title)
        })
    };
    let maker = Product {
        barcode: Some("4006381333931".to_owned()),
        ..product(0, "Lumora", "Lumora", "Night Cream")
    };
    let of_two = |count| {
        let goods = copied(1, "Glowmart", count).chain([maker.clone()]);
        Goods::of(goods.collect()).pairs().len()
    };
    // A barcode on a few products is compared without a match. A barcode on many products is not compared.
    assert_eq!((of_two(1), of_two(2), of_two(5)), (1, 0, 0));
    let market: Vec<Product> = (0..40).flat_map(|store| copied(store, "Stall", 1)).collect();
    let goods = Goods::of(
        market
            .into_iter()
            .map(|one| Product {
                vendor: format!("V{}", one.store),
                brand: format!("B{}", one.store),
                ..one
            })
            .collect(),
    );
    assert_eq!((goods.pairs().len(), goods.read.get()), (0, 0));
}

#[test]
fn where_two_of_a_store_are_equally_good_neither_is_taken() {
    let goods = Goods::of(vec![
        product(0, "Lumora", "Lumora", "Barrier Repair Cream 50 g"),
        product(1, "Glowmart", "Lumora", "Lumora Barrier Repair Cream 50g"),
        product(1, "Glowmart", "Lumora", "Lumora Repair Barrier Cream 50g"),
    ]);
    assert_eq!(goods.pairs(), []);
}

#[test]
fn a_price_alone_makes_no_counterpart_better() {
    let of = |price_minor| Product {
        price_minor,
        ..product(1, "Glowmart", "Lumora", "Lumora Barrier Repair Cream 50g")
    };
    let own = product(0, "Lumora", "Lumora", "Barrier Repair Cream 50 g");
    // One candidate has the same price and the other costs a quarter more, so that either may be the match.
    assert_eq!(Goods::of(vec![own.clone(), of(50_000), of(62_500)]).pairs(), []);
    let coded = |item: Product| Product {
        barcode: Some("4006381333931".to_owned()),
        ..item
    };
    let goods = Goods::of(vec![coded(own), coded(of(50_000)), of(50_000)]);
    assert_eq!(goods.pairs().len(), 1);
}

#[test]
fn stores_that_share_no_maker_are_not_read() {
    let store = |store: u32| {
        let brand = format!("Brand {store}");
        (0..50)
            .map(move |number| product(store, &brand, &brand, &format!("Cotton Kurta {number}")))
            .collect::<Vec<_>>()
    };
    let goods = Goods::of((0..20).flat_map(store).collect());
    assert_eq!(goods.pairs(), []);
    assert_eq!(goods.read.get(), 0);
}

#[test]
fn of_ten_thousand_alike_few_are_compared() {
    // All titles have the same common words, and only the number distinguishes them.
    let store = |store: u32| {
        (0..5_000).map(move |number| product(store, "Lumora", "Lumora", &format!("Cotton Kurta Set No {number}")))
    };
    let goods = Goods::of((0..2).flat_map(store).collect());
    assert_eq!(goods.pairs().len(), 5_000);
    assert_eq!(goods.read.get(), 10_000);
}

/// Builds a store whose name is a common word, and many stores whose titles begin with that word.
fn common_word(stores: u32) -> Goods {
    let others = (1..=stores).flat_map(|store| {
        let brand = format!("Brand {store}");
        let title = |number| format!("Everyday Cotton Kurta {}", store * 10 + number);
        let of_store = (0..5).map(move |number| product(store, &brand, &brand, &title(number)));
        of_store.collect::<Vec<_>>()
    });
    let own = (0..3).map(|number| product(0, "Everyday", "Everyday", &format!("Cotton Kurta {}", 10 + number)));
    Goods::of(own.chain(others).collect())
}

#[test]
fn a_word_that_titles_of_many_stores_begin_with_names_no_maker() {
    let most = Bounds::default().title_stores_max as u32;
    let goods = common_word(most + 1);
    assert_eq!((goods.pairs(), goods.read.get()), (vec![], 0));
    let goods = common_word(most);
    assert!(!goods.pairs().is_empty() && goods.read.get() > 0);
}

#[test]
fn a_maker_that_many_stores_name_is_looked_at_however_many_titles_begin_with_it() {
    let most = Bounds::default().title_stores_max as u32;
    let stores =
        (1..=most + 8).map(|store| product(store, &format!("Brand {store}"), "Lumora", "Lumora Clay Mask 50 g"));
    let own = product(0, "Lumora", "Lumora", "Clay Mask 50 g");
    let goods = Goods::of([own].into_iter().chain(stores).collect());
    assert!(!goods.pairs().is_empty());
}

#[test]
fn products_of_one_maker_are_held_as_long_as_they_are_compared() {
    let of_maker = |maker: u32| {
        let vendor = format!("Maker {maker} Works");
        let of_store = |store| {
            let vendor = vendor.clone();
            (0..10).map(move |number| {
                product(
                    store,
                    &format!("Store {store}"),
                    &vendor,
                    &format!("Cotton Kurta {number}"),
                )
            })
        };
        (0..2).flat_map(of_store).collect::<Vec<_>>()
    };
    let goods = Goods::of((0..5).flat_map(of_maker).collect());
    let found = matches(&goods, &Bounds::default());
    // Every match is found once, although two names lead to each maker's products.
    assert_eq!((found.len(), goods.read.get()), (50, 100));
    let few = Bounds {
        held_max: 3,
        ..Bounds::default()
    };
    assert_eq!(matches(&goods, &few), found);
}

prop_compose! {
    fn any_product()(
        store in 0u32..4,
        maker in prop::sample::select(vec!["Lumora", "Ojas", "Dhaga", "Lumora Skincare"]),
        words in prop::collection::vec(prop::sample::select(vec!["face", "serum", "30 ml", "50ml", "red", "black", "T20", "pack of 2", "5%"]), 1..5),
        barcode in prop::option::of(prop::sample::select(vec!["4006381333931", "036000291452", "12"])),
        price_minor in 0i64..3,
    ) -> Product {
        Product {
            store,
            brand: format!("Store {store}"),
            vendor: maker.to_owned(),
            title: words.join(" "),
            barcode: barcode.map(str::to_owned),
            sku: None,
            price_minor: price_minor * 50_000,
        }
    }
}

proptest! {
    #[test]
    fn pairs_are_of_two_stores_and_once_whatever_the_order(products in prop::collection::vec(any_product(), 0..24)) {
        let goods = Goods::of(products.clone());
        let found = matches(&goods, &Bounds::default());
        for pair in &found {
            let (one, other) = (&products[pair.one as usize], &products[pair.other as usize]);
            prop_assert!(pair.one < pair.other && one.store != other.store);
            prop_assert!((0.8..=1.0).contains(&pair.judgement.confidence));
        }
        let few = Bounds {
            held_max: 2,
            ..Bounds::default()
        };
        prop_assert_eq!(&matches(&goods, &few), &found);
        let mut reversed = products.clone();
        reversed.reverse();
        let last = products.len().saturating_sub(1) as u32;
        let mut back: Vec<_> = matches(&Goods::of(reversed), &Bounds::default())
            .iter()
            .map(|pair| (last - pair.other, last - pair.one))
            .collect();
        back.sort_unstable();
        prop_assert_eq!(back, found.iter().map(|pair| (pair.one, pair.other)).collect::<Vec<_>>());
    }
}
