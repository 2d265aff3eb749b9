//! Pure arithmetic of discounts.
//!
//! Product discounts come first and give each line's total. Order discounts are computed on these totals: a percentage
//! line by line, an amount in proportion, so that the allocations sum up to the reduction. Delivery discounts come
//! last. A line or a delivery never costs less than zero.

use chrono::{DateTime, Utc};

use super::verdict::DiscountVerdict;
use super::{Class, DiscountRule, DiscountValue};
use crate::money::{percent_of, split};

/// Line of a basket, with the data that discounts need.
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

/// Basket for the computation of discounts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Basket<'a> {
    pub(crate) items: &'a [Item],
    /// Price of the selected delivery, if any.
    pub(crate) delivery_minor: Option<u64>,
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

/// Reduction of one item by one discount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Allocation {
    pub(crate) rule: usize,
    /// Index of the item; `None` for the delivery.
    pub(crate) item: Option<usize>,
    pub(crate) amount_minor: u64,
    pub(crate) class: Class,
}

/// Effect of a store's discounts on a basket.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct AppliedDiscounts {
    /// Verdicts on the codes, in the order entered.
    pub(crate) codes: Vec<DiscountVerdict>,
    pub(crate) allocations: Vec<Allocation>,
    /// Price of each item after product discounts.
    pub(crate) item_totals_minor: Vec<u64>,
    /// Price of the goods after all discounts, without delivery.
    pub(crate) goods_minor: u64,
    /// Price of the delivery after discounts; 0 if none is selected.
    pub(crate) delivery_minor: u64,
}

impl AppliedDiscounts {
    /// Returns the price after product discounts and before order discounts.
    pub(crate) fn subtotal_minor(&self) -> u64 {
        self.item_totals_minor.iter().copied().fold(0, u64::saturating_add)
    }

    pub(crate) fn taken_minor(&self, rule: usize) -> u64 {
        let own = self.allocations.iter().filter(|allocation| allocation.rule == rule);
        own.map(|allocation| allocation.amount_minor).sum()
    }
}

/// Returns the combined reduction by the chosen rules.
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

/// Returns a rule's reduction of each item, computed on `basis` and limited to `left`.
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
