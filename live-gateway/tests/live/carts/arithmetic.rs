use std::collections::BTreeMap;

use emulator::{BasketLine, CartFunction, CombinesWith, DiscountRule, DiscountValue};
use serde_json::{Value, json};

use super::mall::{Call, Mall, assert_sums, group, minor, path, verdicts_of};

/// Pseudorandom numbers, the same on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

const STORES: usize = 8;
const BASKETS: u64 = 1_000;

/// Returns the change that the store itself makes to its carts: none, a gift, one line per unit, or an unrequested
/// bundle.
fn function(mall: &Mall, store: usize) -> Option<CartFunction> {
    let goods = mall.goods(store);
    match store % 4 {
        1 => Some(CartFunction::Gift {
            with: goods[0].1,
            free: goods[2].1,
        }),
        2 => Some(CartFunction::Split { variant: goods[1].1 }),
        3 => goods.get(4).map(|into| CartFunction::Merge {
            variants: vec![goods[0].1, goods[1].1],
            into: into.1,
        }),
        _ => None,
    }
}

/// Returns the basket that the store has. The gift is left out because it is free.
fn made(basket: &BTreeMap<u64, u64>, function: Option<&CartFunction>) -> Vec<BasketLine> {
    let mut basket = basket.clone();
    let mut lines = Vec::new();
    match function {
        Some(CartFunction::Split { variant }) => {
            let pieces = basket.remove(variant).unwrap_or_default();
            lines.extend((0..pieces).map(|_| (*variant, 1)));
        }
        Some(CartFunction::Merge { variants, into }) => {
            let pieces = |variant| basket.get(variant).copied().unwrap_or_default();
            let bundles = variants.iter().map(pieces).min().unwrap();
            for variant in variants {
                basket.entry(*variant).and_modify(|pieces| *pieces -= bundles);
            }
            lines.push((*into, bundles));
        }
        _ => {}
    }
    lines.extend(basket);
    let lines = lines.into_iter().filter(|(_, quantity)| *quantity > 0);
    lines
        .map(|(variant, quantity)| BasketLine { variant, quantity })
        .collect()
}

/// Sets up codes of every kind at each store.
fn prepare(mall: &Mall) {
    let all = CombinesWith {
        order: true,
        product: true,
        shipping: true,
    };
    for store in 0..STORES {
        let slug = mall.slug(store);
        let platform = |nth: usize| mall.shelf.products[&mall.goods(store)[nth].0.parse().unwrap()].platform_id;
        let rules = [
            DiscountRule::code("TEN", DiscountValue::Percentage { percent: 10 }),
            DiscountRule {
                combines_with: all,
                ..DiscountRule::code(
                    "FLAT",
                    DiscountValue::Amount {
                        amount_minor: 12_345,
                        each_item: false,
                    },
                )
            },
            DiscountRule {
                products: vec![platform(0)],
                combines_with: all,
                ..DiscountRule::code("FIRST", DiscountValue::Percentage { percent: 33 })
            },
            DiscountRule {
                minimum_subtotal_minor: Some(500_000),
                ..DiscountRule::code("MUCH", DiscountValue::Percentage { percent: 20 })
            },
            DiscountRule {
                products: vec![platform(1)],
                ..DiscountRule::automatic(
                    "Second for less",
                    DiscountValue::Amount {
                        amount_minor: 777,
                        each_item: true,
                    },
                )
            },
        ];
        mall.stores.set_discounts(&slug, rules).unwrap();
        let function = function(mall, store);
        if function.is_some() {
            for (_, variant, _) in mall.goods(store).iter().take(5) {
                mall.stores.set_stock(&slug, *variant, 1_000).unwrap();
            }
        }
        mall.stores.set_cart_function(&slug, function).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_baskets_over_eight_stores_cost_what_the_stores_say() {
    let mall = Mall::open(u32::try_from(STORES).unwrap()).await;
    prepare(&mall);
    let server = mall.server().await;
    let mut dice = Dice(7);
    for nth in 0..BASKETS {
        let mut baskets: BTreeMap<usize, BTreeMap<u64, u64>> = BTreeMap::new();
        let mut items = Vec::new();
        for _ in 0..=dice.roll(6) {
            let store = usize::try_from(dice.roll(STORES as u64)).unwrap();
            let goods = mall.goods(store);
            let at = usize::try_from(dice.roll(4)).unwrap() % goods.len();
            let qty = u32::try_from(dice.roll(3) + 1).unwrap();
            items.push(mall.item(store, at, qty));
            *baskets.entry(store).or_default().entry(goods[at].1).or_default() += u64::from(qty);
        }
        let mut cart = server.cart(&items).await;
        let mut codes: Vec<&str> = Vec::new();
        for _ in 0..dice.roll(3) {
            let code = ["TEN", "FLAT", "FIRST", "MUCH", "NOPE"][usize::try_from(dice.roll(5)).unwrap()];
            cart = server
                .data(Call::post(path(&cart, "/discount"), json!({ "code": code })))
                .await;
            if !codes.contains(&code) {
                codes.push(code);
            }
        }
        assert_sums(&cart);
        assert_eq!(
            cart["groups"].as_array().unwrap().len(),
            baskets.len(),
            "basket {nth}: {cart}"
        );
        for (store, basket) in &baskets {
            assert_true(&mall, *store, basket, &codes, &group(&cart, &mall.brand(*store)));
        }
    }
}

/// Asserts that a group equals its basket at the store.
fn assert_true(mall: &Mall, store: usize, basket: &BTreeMap<u64, u64>, codes: &[&str], told: &Value) {
    let basket = made(basket, function(mall, store).as_ref());
    let truth = mall
        .stores
        .truth(&mall.slug(store), &basket, codes.iter().copied())
        .unwrap();
    let as_minor = |minor: u64| i64::try_from(minor).unwrap();
    assert_eq!(minor(&told["subtotal_minor"]), as_minor(truth.list_minor), "{told}");
    assert_eq!(minor(&told["total_minor"]), as_minor(truth.total_minor), "{told}");
    assert_eq!(
        minor(&told["discount_minor"]),
        as_minor(truth.list_minor - truth.total_minor),
        "{told}"
    );
    assert_eq!(minor(&told["other_minor"]), 0, "{told}");
    let verdicts: Vec<_> = truth
        .codes
        .iter()
        .map(|code| json!({ "code": code.code, "applicable": code.applicable, "discount_minor": code.discount_minor }))
        .collect();
    assert_eq!(verdicts_of(told), verdicts, "{told}");
}
