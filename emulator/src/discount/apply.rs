//! Pure functions that find the codes and automatic discounts that apply to a basket.

use super::combine::best;
use super::reckon::{AppliedDiscounts, Basket, reckon};
use super::verdict::{DiscountRefusal, DiscountVerdict};
use super::{Class, DiscountRule, folded};

/// Returns the effect of the rules on the basket with these codes.
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

/// Returns the reason why a rule does not apply to a basket, independent of other rules.
fn refusal(rule: &DiscountRule, basket: &Basket<'_>) -> Option<DiscountRefusal> {
    let has_begun = rule.starts_at.is_none_or(|starts| starts <= basket.now);
    let has_ended = rule.ends_at.is_some_and(|ends| ends <= basket.now);
    if !has_begun || has_ended {
        return Some(DiscountRefusal::CurrentlyInactive);
    }
    // On an empty cart, the platform still reports an ended code as ended, but honours no other code.
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

#[cfg(test)]
#[path = "apply_tests.rs"]
mod tests;
