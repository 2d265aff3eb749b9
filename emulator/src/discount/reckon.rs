//! The arithmetic of discounts. Pure.
//!
//! Discounts of products come first and leave each line's total; those of the order are reckoned on what is left, a
//! percentage line by line and an amount in proportion, so that the allocations of a discount sum up to what it takes
//! off; those of the delivery come last. No line and no delivery ever costs less than nothing.

use chrono::{DateTime, Utc};

use super::verdict::DiscountVerdict;
use super::{Class, DiscountRule, DiscountValue};
use crate::money::{percent_of, split};

/// One line of a basket, as far as discounts care.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    pub(crate) product: u64,
    pub(crate) quantity: u64,
    pub(crate) unit_minor: u64,
    pub(crate) is_delivered: bool,
}

impl Item {
    pub(crate) fn amount_minor(&self) -> u64 {
        self.unit_minor.saturating_mul(self.quantity)
    }
}

/// The basket that discounts are computed on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Basket<'a> {
    pub(crate) items: &'a [Item],
    /// The price of the chosen delivery; `None` before one is chosen.
    pub(crate) delivery_minor: Option<u64>,
    /// True where the buyer is logged in.
    pub(crate) is_customer: bool,
    pub(crate) now: DateTime<Utc>,
}

impl Basket<'_> {
    pub(crate) fn list_minor(&self) -> u64 {
        self.items.iter().map(Item::amount_minor).fold(0, u64::saturating_add)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.iter().all(|item| item.quantity == 0)
    }
}

/// The reduction of one item by one discount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Allocation {
    /// The index of the rule.
    pub(crate) rule: usize,
    /// The index of the item; `None` for the delivery.
    pub(crate) item: Option<usize>,
    pub(crate) amount_minor: u64,
    pub(crate) class: Class,
}

/// The effect of a store's discounts on a basket.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct AppliedDiscounts {
    /// One a code, in the order entered.
    pub(crate) codes: Vec<DiscountVerdict>,
    pub(crate) allocations: Vec<Allocation>,
    /// The price of each item after the discounts of products.
    pub(crate) item_totals_minor: Vec<u64>,
    /// After all discounts, without delivery.
    pub(crate) goods_minor: u64,
    /// The price of the delivery after discounts; 0 before one is chosen.
    pub(crate) delivery_minor: u64,
}

impl AppliedDiscounts {
    /// After discounts of products, before those of the order.
    pub(crate) fn subtotal_minor(&self) -> u64 {
        self.item_totals_minor.iter().copied().fold(0, u64::saturating_add)
    }

    /// The reduction by one rule.
    pub(crate) fn taken_minor(&self, rule: usize) -> u64 {
        let own = self.allocations.iter().filter(|allocation| allocation.rule == rule);
        own.map(|allocation| allocation.amount_minor).sum()
    }
}

/// The reduction by these rules together.
pub(super) fn reckon(rules: &[DiscountRule], chosen: &[usize], basket: &Basket<'_>) -> AppliedDiscounts {
    let mut totals: Vec<u64> = basket.items.iter().map(Item::amount_minor).collect();
    let mut allocations = Vec::new();
    let of_class = |class: Class| chosen.iter().copied().filter(move |rule| rules[*rule].class() == class);
    for rule in of_class(Class::Product) {
        let parts = parts(&rules[rule], basket.items, &totals, &totals);
        take(rule, Class::Product, &parts, &mut totals, &mut allocations);
    }
    let item_totals_minor = totals.clone();
    for rule in of_class(Class::Order) {
        let parts = parts(&rules[rule], basket.items, &item_totals_minor, &totals);
        take(rule, Class::Order, &parts, &mut totals, &mut allocations);
    }
    let mut delivery_minor = basket.delivery_minor.unwrap_or(0);
    for rule in of_class(Class::Shipping) {
        if delivery_minor > 0 {
            allocations.push(Allocation {
                rule,
                item: None,
                amount_minor: delivery_minor,
                class: Class::Shipping,
            });
            delivery_minor = 0;
        }
    }
    AppliedDiscounts {
        codes: Vec::new(),
        allocations,
        goods_minor: totals.iter().copied().fold(0, u64::saturating_add),
        item_totals_minor,
        delivery_minor,
    }
}

/// A rule's reduction of each item: computed on `basis`, never more than what is `left`.
fn parts(rule: &DiscountRule, items: &[Item], basis: &[u64], left: &[u64]) -> Vec<u64> {
    let entitled = |item: &Item| item.quantity > 0 && rule.is_for(item.product);
    let weights: Vec<u64> = items
        .iter()
        .zip(basis)
        .map(|(item, amount)| if entitled(item) { *amount } else { 0 })
        .collect();
    let asked: Vec<u64> = match rule.takes {
        DiscountValue::Percentage { percent } => weights.iter().map(|weight| percent_of(*weight, percent)).collect(),
        DiscountValue::Amount {
            amount_minor,
            each_item: true,
        } => {
            let each = items.iter().zip(&weights);
            each.map(|(item, weight)| amount_minor.saturating_mul(item.quantity).min(*weight))
                .collect()
        }
        DiscountValue::Amount { amount_minor, .. } => {
            let all = weights.iter().copied().fold(0, u64::saturating_add);
            split(amount_minor.min(all), &weights)
        }
        DiscountValue::Shipping => vec![0; items.len()],
    };
    asked
        .into_iter()
        .zip(left)
        .map(|(part, left)| part.min(*left))
        .collect()
}

fn take(rule: usize, class: Class, parts: &[u64], totals: &mut [u64], allocations: &mut Vec<Allocation>) {
    for (nth, (part, total)) in parts.iter().zip(totals).enumerate() {
        if *part > 0 {
            *total -= part;
            allocations.push(Allocation {
                rule,
                item: Some(nth),
                amount_minor: *part,
                class,
            });
        }
    }
}
