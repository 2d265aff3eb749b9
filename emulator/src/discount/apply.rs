//! The arithmetic of discounts. Pure.
//!
//! Discounts of products come first and leave each line's total; those of the order are reckoned on what is left, a
//! percentage line by line and an amount in proportion, so that the allocations of a discount sum up to what it takes
//! off; those of the delivery come last. No line and no delivery ever costs less than nothing.

use chrono::{DateTime, Utc};

use super::combine::best;
use super::verdict::{DiscountRefusal, DiscountVerdict};
use super::{Class, DiscountRule, DiscountValue, folded};
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

    fn is_empty(&self) -> bool {
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

/// The effect of the rules on the basket when these codes are entered.
pub(crate) fn apply(rules: &[DiscountRule], entered: &[String], basket: &Basket<'_>) -> AppliedDiscounts {
    let found: Vec<Option<usize>> = entered
        .iter()
        .map(|code| {
            let wanted = folded(code);
            let is_it = |rule: &DiscountRule| rule.code.as_deref().is_some_and(|code| folded(code) == wanted);
            rules.iter().position(is_it)
        })
        .collect();
    let refusals: Vec<Option<DiscountRefusal>> = found
        .iter()
        .map(|rule| match rule {
            None => Some(DiscountRefusal::NotFound),
            Some(rule) => refusal(&rules[*rule], basket),
        })
        .collect();
    let by_code = found.iter().zip(&refusals).filter(|(_, refusal)| refusal.is_none());
    let by_code = by_code.filter_map(|(rule, _)| *rule);
    let by_itself = rules.iter().enumerate();
    let by_itself = by_itself.filter(|(_, rule)| rule.code.is_none() && refusal(rule, basket).is_none());
    let mut candidates: Vec<usize> = by_code.chain(by_itself.map(|(nth, _)| nth)).collect();
    let mut seen = std::collections::HashSet::new();
    candidates.retain(|rule| seen.insert(*rule));
    let chosen = best(rules, &candidates, basket);
    let mut applied = reckon(rules, &chosen, basket);
    applied.codes = entered
        .iter()
        .zip(found.iter().zip(refusals))
        .map(|(code, (rule, refusal))| {
            let taken = rule.filter(|rule| refusal.is_none() && chosen.contains(rule));
            DiscountVerdict {
                code: code.clone(),
                applicable: taken.is_some(),
                discount_minor: taken.map_or(0, |rule| applied.taken_minor(rule)),
                refusal: if taken.is_some() {
                    None
                } else {
                    Some(refusal.unwrap_or(DiscountRefusal::CodeNotHonoured))
                },
            }
        })
        .collect();
    applied
}

/// The reason why a rule does not apply to a basket, whatever other rules there are.
fn refusal(rule: &DiscountRule, basket: &Basket<'_>) -> Option<DiscountRefusal> {
    let has_begun = rule.starts_at.is_none_or(|starts| starts <= basket.now);
    let has_ended = rule.ends_at.is_some_and(|ends| ends <= basket.now);
    if !has_begun || has_ended {
        return Some(DiscountRefusal::CurrentlyInactive);
    }
    // The platform recognises an ended code on an empty cart too, and honours no other there.
    if basket.is_empty() {
        return Some(DiscountRefusal::CodeNotHonoured);
    }
    if rule.usage_limit.is_some_and(|limit| rule.used >= limit) {
        return Some(DiscountRefusal::UsageLimitReached);
    }
    if rule.customers_only && !basket.is_customer {
        return Some(DiscountRefusal::EligibleCustomerMissing);
    }
    let entitled = basket
        .items
        .iter()
        .filter(|item| item.quantity > 0 && rule.is_for(item.product));
    let (mut amount, mut pieces, mut is_delivered) = (0_u64, 0_u64, false);
    for item in entitled {
        amount = amount.saturating_add(item.amount_minor());
        pieces = pieces.saturating_add(item.quantity);
        is_delivered |= item.is_delivered;
    }
    if pieces == 0 {
        return Some(DiscountRefusal::NoEntitledLineItems);
    }
    let has_delivery = is_delivered && (!rule.delivered_only || basket.delivery_minor.is_some());
    if rule.class() == Class::Shipping && !has_delivery {
        return Some(DiscountRefusal::NoEntitledShippingLines);
    }
    if rule.minimum_subtotal_minor.is_some_and(|least| amount < least) {
        return Some(DiscountRefusal::PurchaseNotInRange);
    }
    if rule.minimum_quantity.is_some_and(|least| pieces < least) {
        return Some(DiscountRefusal::QuantityNotInRange);
    }
    None
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

#[cfg(test)]
#[path = "apply_tests.rs"]
mod tests;
