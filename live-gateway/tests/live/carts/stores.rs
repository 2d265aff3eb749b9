//! Emulated stores for the test sequences.

use emulator::{CartFunction, DiscountRule, DiscountValue};

use super::mall::Mall;
use super::model::{Dice, PRODUCTS};

/// Sets the stock of all products, and adds a code and an automatic discount at each store.
pub(super) fn prepare(mall: &Mall) {
    for store in 0..mall.stores.stores().len() {
        let (slug, goods) = (mall.slug(store), mall.goods(store));
        for (_, variant, _) in &goods[..PRODUCTS] {
            mall.stores.set_stock(&slug, *variant, 1_000).unwrap();
        }
        let less = DiscountValue::Amount {
            amount_minor: 77,
            each_item: true,
        };
        let automatic = DiscountRule {
            products: vec![mall.shelf.products[&goods[3].0.parse().unwrap()].platform_id],
            ..DiscountRule::automatic("Less for the fourth", less)
        };
        let rules = [
            DiscountRule::code("TEN", DiscountValue::Percentage { percent: 10 }),
            automatic,
        ];
        mall.stores.set_discounts(&slug, rules).unwrap();
    }
}

/// Returns the change that the store itself makes to its carts: none, one line per unit, or a gift of another or the
/// same variant.
pub(super) fn function(mall: &Mall, store: usize, dice: &mut Dice) -> Option<CartFunction> {
    let variant = |nth: usize| mall.goods(store)[nth].1;
    match dice.below(5) {
        0 => Some(CartFunction::Split { variant: variant(1) }),
        gift @ 1..=2 => Some(CartFunction::Gift {
            with: variant(0),
            free: variant(if gift == 1 { 2 } else { 0 }),
        }),
        _ => None,
    }
}
