use super::reckon::{Basket, reckon};
use super::{Class, DiscountRule};

/// Maximum number of discounts for which every combination is tried. Of more, the best discounts are added one by one.
const TRIED_MAX: usize = 8;

/// Maximum number of product and order discounts on one order. The next constant is that of delivery discounts.
const GOODS_MAX: usize = 5;
const SHIPPING_MAX: usize = 1;

/// Returns the candidates that can be combined and together take off the most. Of equal combinations, the one with the
/// discounts that were entered first is chosen, and then the larger one.
pub(super) fn best(rules: &[DiscountRule], candidates: &[usize], basket: &Basket<'_>) -> Vec<usize> {
    if candidates.len() <= 1 {
        return candidates.to_vec();
    }
    if candidates.len() > TRIED_MAX {
        return one_by_one(rules, candidates, basket);
    }
    let mut best: (u64, Vec<usize>) = (0, Vec::new());
    for mask in 1_u32..1 << candidates.len() {
        let chosen: Vec<usize> = candidates
            .iter()
            .enumerate()
            .filter(|(nth, _)| mask & (1 << nth) != 0)
            .map(|(_, rule)| *rule)
            .collect();
        if !go_together(rules, &chosen) {
            continue;
        }
        let taken = taken_minor(rules, &chosen, basket);
        // Masks count up from the candidate that was entered first. Of two combinations that take off the same amount,
        // the first is chosen, unless the second extends it.
        let adds = taken == best.0 && chosen.starts_with(&best.1) && chosen.len() > best.1.len();
        if best.1.is_empty() || taken > best.0 || adds {
            best = (taken, chosen);
        }
    }
    best.1
}

fn one_by_one(rules: &[DiscountRule], candidates: &[usize], basket: &Basket<'_>) -> Vec<usize> {
    let mut order: Vec<(u64, usize)> = candidates
        .iter()
        .map(|rule| (taken_minor(rules, &[*rule], basket), *rule))
        .collect();
    order.sort_by_key(|(taken, _)| std::cmp::Reverse(*taken));
    let mut chosen: Vec<usize> = Vec::new();
    for (_, rule) in order {
        chosen.push(rule);
        if !go_together(rules, &chosen) {
            chosen.pop();
        }
    }
    chosen
}

fn go_together(rules: &[DiscountRule], chosen: &[usize]) -> bool {
    let of_delivery = chosen.iter().filter(|rule| rules[**rule].class() == Class::Shipping);
    let shipping = of_delivery.count();
    let mut pairs = chosen.iter().enumerate();
    shipping <= SHIPPING_MAX
        && chosen.len() - shipping <= GOODS_MAX
        && pairs.all(|(nth, one)| {
            let mut others = chosen[nth + 1..].iter();
            others.all(|other| rules[*one].goes_with(&rules[*other]))
        })
}

fn taken_minor(rules: &[DiscountRule], chosen: &[usize], basket: &Basket<'_>) -> u64 {
    let applied = reckon(rules, chosen, basket);
    let before = basket.list_minor().saturating_add(basket.delivery_minor.unwrap_or(0));
    before.saturating_sub(applied.goods_minor.saturating_add(applied.delivery_minor))
}
