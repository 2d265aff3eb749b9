//! Merges the outcome at one store's cart into the cart's record and into the caller's response.

use std::collections::BTreeSet;

use data_model::Timestamp;

use super::settled::{Before, ReconcileOutcome};
use crate::rules::carts::answer::{CartReport, Note};
use crate::rules::carts::ids::product_id;
use crate::rules::carts::missing::{missing, wanted_after};
use crate::rules::carts::own::CartComparison;
use crate::rules::carts::record::{CartRecord, Group, Target};
use crate::rules::store_cart::Buyer;
use crate::schema::carts::CartProblem;

/// Merges the outcome at one brand's store; `now` is the time of the last query to it.
pub(super) fn take_in(
    record: &mut CartRecord,
    told: &mut CartReport,
    target: &Target,
    before: &Before,
    settled: ReconcileOutcome,
    now: Timestamp,
) {
    let brand = &before.brand;
    let known = before.group.as_ref();
    let is_well = settled.problems.is_empty();
    let mut named = BTreeSet::new();
    for trouble in &settled.problems {
        named.extend(trouble.variant);
        let product = trouble.variant.and_then(|variant| product_of(known, target, variant));
        let told_of = CartProblem::new(Some(brand), product, trouble.code, trouble.detail.clone());
        told.problems.push(told_of.because(trouble.reason));
    }
    let at = record.groups.iter().position(|group| group.brand.store == brand.store);
    // The store had lost its cart, and nothing was left to rebuild it from.
    let is_over = settled.cart.is_none() && is_well && settled.notes.contains(&Note::Rebuilt);
    let Some(mut group) = group_after(before, &settled, now).filter(|_| !is_over) else {
        at.map(|at| record.groups.remove(at));
        return;
    };
    group.note_items(target, &settled.maybe_done());
    let wanted = wanted_after(
        &known.map(|group| group.wanted.clone()).unwrap_or_default(),
        &settled.done,
    );
    if let Some(cart) = &settled.cart {
        let holding = CartComparison {
            cart,
            wanted: &wanted,
            before: known.map(Group::known),
        };
        let silent = missing(known, target, holding).into_iter();
        let silent = silent.filter(|one| !named.contains(&one.variant));
        told.problems.extend(silent.map(|one| one.problem(brand)));
        if !settled.is_open && record.is_told(&group) {
            told.verified.push(brand.store.clone());
        }
        if !settled.notes.is_empty() {
            let notes = told.notes.entry(brand.store.as_str().to_owned());
            notes.or_default().extend(settled.notes);
        }
    }
    match (at, group.is_empty()) {
        (Some(at), true) => {
            record.groups.remove(at);
        }
        (None, true) => {}
        (Some(at), false) => record.groups[at] = group,
        (None, false) => record.groups.push(group),
    }
}

fn product_of(known: Option<&Group>, target: &Target, variant: u64) -> Option<String> {
    let named = target.products.get(&variant).cloned();
    named.or_else(|| {
        let group = known?;
        Some(product_id(&group.brand, group.line(variant)?.product))
    })
}

/// Returns the current group of a brand. Returns `None` if there was none and the store created none.
fn group_after(before: &Before, settled: &ReconcileOutcome, now: Timestamp) -> Option<Group> {
    let mut group = match (&before.group, &settled.cart) {
        (Some(group), Some(cart)) => Group {
            seen: cart.clone(),
            seen_at: before.now,
            ..group.clone()
        },
        (Some(group), None) => group.clone(),
        (None, Some(cart)) => Group::new(before.brand.clone(), cart.clone(), before.now),
        (None, None) => return None,
    };
    let known = before.group.clone();
    group.wanted = wanted_after(&group.wanted, &settled.done);
    group.settle_lines(known.as_ref());
    group.doubt = settled.doubt(group.doubt.take(), now);
    group.address = settled.address.clone().or(group.address);
    group.declined = settled.declined.clone().or(group.declined);
    group.unsent = settled.unsent.clone();
    if settled.is_buyer_told {
        let token = before.buyer.customer_token.clone();
        let told = Buyer {
            customer_token: token.filter(|_| !settled.is_signed_out),
            ..before.buyer.clone()
        };
        group.buyer = told.mark();
    }
    let taken = settled.chosen.as_ref().and_then(|chosen| chosen.selected(&group.seen));
    group.chosen = taken.or(group.chosen);
    Some(group)
}
